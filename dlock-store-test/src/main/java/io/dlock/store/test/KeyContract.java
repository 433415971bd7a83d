package io.dlock.store.test;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keys are compared exactly, whatever characters they contain.
 */
abstract class KeyContract extends ContractPart {

	KeyContract(LockStoreContract contract) {
		super(contract);
	}

	static List<String> hostileKeys() {
		return List.of("a b", "a\u0000b", "a\r\nSET x y", "a'; DROP TABLE dlock_lock; --", "{a}", "}{", "a%20b", "*",
				"日本語のキー", "🔒🔑", "ä", "\ud800", "x".repeat(10_000), "é".repeat(10_000), "$1 ?1 :p", "a\\b\"c",
				"\u202e\u200b");
	}

	@ParameterizedTest
	@MethodSource("hostileKeys")
	void r53KeyOfAnyCharactersAndLength(String suffix) {
		String key = key() + suffix;
		long token = granted(acquire(key, "a", LEASE));
		refused(acquire(key, "b", LEASE));
		assertThat(store().renew(List.of(new RenewCommand(key, "a", LEASE)))).containsExactly(RenewResult.RENEWED);
		assertThat(store().find(key)).hasValueSatisfying((lock) -> {
			assertThat(lock.token()).isEqualTo(token);
			assertThat(lock.storageKey()).hasSizeLessThanOrEqualTo(StorageKey.MAX_LENGTH)
				.satisfies((stored) -> assertThat(StandardCharsets.US_ASCII.newEncoder().canEncode(stored)).isTrue());
		});
		assertThat(store().release(key, "a")).isTrue();
	}

	@Test
	void r41KeysThatLookAlikeAreDifferentLocks() {
		List<String> lookAlikes = List.of("cafe", "CAFE", "café", "cafe\u0301", "cafe ", "cafe  ", " cafe", "cafe\t",
				"{cafe}", "{cafe", "ca{fe}", "cafe\u0000", "ｃａｆｅ", "cafe%20", "straße", "strasse",
				"x".repeat(2000) + "a", "x".repeat(2000) + "b", "x".repeat(2000) + "\u0141",
				"x".repeat(2000) + "\u0241", "\ud800", "\udc00", "?");
		for (String lookAlike : lookAlikes) {
			assertThat(acquire(key() + lookAlike, "owner", LEASE)).as(lookAlike).isInstanceOf(Granted.class);
			assertThat(acquire(key() + lookAlike, "other", LEASE)).as(lookAlike).isInstanceOf(Refused.class);
		}
		Set<String> stored = new HashSet<>();
		lookAlikes.forEach((lookAlike) -> stored.add(StorageKey.of(key() + lookAlike)));
		assertThat(stored).hasSameSizeAs(lookAlikes);
	}

}
