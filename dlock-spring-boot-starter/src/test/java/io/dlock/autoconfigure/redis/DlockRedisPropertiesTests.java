package io.dlock.autoconfigure.redis;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.dlock.store.redis.RedisAcknowledgement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The acknowledgement that the properties ask for.
 */
class DlockRedisPropertiesTests {

	private static final Duration TIMEOUT = Duration.ofMillis(70);

	private static @Nullable RedisAcknowledgement acknowledgement(AcknowledgeMode mode, @Nullable Duration timeout,
			Duration commandTimeout) {
		return new DlockRedisProperties("dlock", mode, 2, timeout).acknowledgement(commandTimeout);
	}

	@Test
	void modeIsThatOfTheProperty() {
		Duration second = Duration.ofSeconds(1);
		assertThat(acknowledgement(AcknowledgeMode.NONE, TIMEOUT, second)).isNull();
		assertThat(acknowledgement(AcknowledgeMode.REPLICAS, TIMEOUT, second))
			.isEqualTo(RedisAcknowledgement.byReplicas(2, TIMEOUT));
		assertThat(acknowledgement(AcknowledgeMode.FSYNC, TIMEOUT, second))
			.isEqualTo(RedisAcknowledgement.byFsync(TIMEOUT));
	}

	@Test
	void timeoutIsAQuarterOfACommandTimeout() {
		assertThat(acknowledgement(AcknowledgeMode.FSYNC, null, Duration.ofSeconds(1)))
			.isEqualTo(RedisAcknowledgement.byFsync(Duration.ofMillis(250)));
		assertThat(acknowledgement(AcknowledgeMode.FSYNC, null, Duration.ofMillis(3)))
			.isEqualTo(RedisAcknowledgement.byFsync(Duration.ofMillis(1)));
	}

}
