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
	void acknowledgementTakesAtMostHalfOfTheCommandTimeout() {
		RedisLockStoreSettings settings = RedisLockStoreSettings.defaults();
		assertThat(settings.acknowledgement()).as("none is chosen by itself").isNull();
		RedisAcknowledgement half = RedisAcknowledgement.byReplicas(1, Duration.ofMillis(500));
		assertThat(settings.withAcknowledgement(half).withPrefix("a").acknowledgement()).isEqualTo(half);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> settings.withAcknowledgement(RedisAcknowledgement.byFsync(Duration.ofMillis(501))))
			.withMessageContaining("at most half of the command timeout, 500 ms, but is 501 ms");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> settings.withAcknowledgement(half).withCommandTimeout(Duration.ofMillis(999)));
		assertThatIllegalArgumentException().isThrownBy(() -> RedisAcknowledgement.byReplicas(0, half.timeout()));
	}

	@Test
	void commandTimeoutMustBePositive() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RedisLockStoreSettings.defaults().withCommandTimeout(Duration.ZERO));
	}

}
