package io.dlock.store.redis;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RedisLockStoreSettingsTests {

	@Test
	void prefixIsUsedForLockAndFence() {
		RedisKeys keys = RedisKeys.of("shop/locks", "order");
		assertThat(new String(keys.lock())).startsWith("shop/locks:{b").endsWith("}:lock:order");
		assertThat(new String(keys.fence())).startsWith("shop/locks:{b").endsWith("}:fence");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a{b}", "a b", "a\n", "ä" })
	void prefixWithOtherCharactersIsRefused(String prefix) {
		assertThatIllegalArgumentException().isThrownBy(() -> RedisLockStoreSettings.defaults().withPrefix(prefix));
	}

	@Test
	void commandTimeoutMustBePositive() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RedisLockStoreSettings.defaults().withCommandTimeout(Duration.ZERO));
	}

}
