package io.dlock.store.redis.connection;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class RedisLockScriptTests {

	/**
	 * A lease of zero would end at once.
	 */
	@ParameterizedTest
	@CsvSource({ "1, 1", "999999, 1", "1000000, 1", "1000001, 2", "1500000, 2", "2000000, 2", "2999999, 3",
			"60000000000, 60000" })
	void leaseIsRoundedUpToMilliseconds(long nanos, String millis) {
		assertThat(new String(RedisLockScript.millis(Duration.ofNanos(nanos)), StandardCharsets.US_ASCII))
			.isEqualTo(millis);
	}

}
