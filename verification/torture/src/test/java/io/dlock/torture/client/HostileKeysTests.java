package io.dlock.torture.client;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.dlock.store.StorageKey;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link HostileKeys}.
 */
class HostileKeysTests {

	@Test
	void keysOfAllNamesAreDifferentInTheStore() {
		Set<String> stored = new HashSet<>();
		for (int i = 0; i < 100; i++) {
			HostileKeys.of("flood-client-0-1-" + i).stream().map(StorageKey::of).forEach(stored::add);
		}
		assertThat(stored).hasSize(100 * HostileKeys.COUNT);
	}

	@Test
	void keysContainTheSpecialCharactersOfAllStores() {
		List<String> keys = HostileKeys.of("a");
		assertThat(String.join("", keys)).contains("{", "}", "'", "\"", "\n", "\r", "\0", "%41", "*", "?", "[", "\\",
				"$", "\ud83d\ude00");
		assertThat(keys).anyMatch((key) -> key.length() > 10_000).doesNotHaveDuplicates();
	}

}
