package io.dlock;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockSettingsTests {

	@Test
	void commandTimeoutIsATenthOfTheLeaseAndAtMostASecond() {
		assertThat(LockSettings.defaults().commandTimeout()).isEqualTo(Duration.ofSeconds(1));
		assertThat(LockSettings.commandTimeoutFor(Duration.ofSeconds(30))).isEqualTo(Duration.ofSeconds(1));
		assertThat(LockSettings.commandTimeoutFor(Duration.ofSeconds(2))).isEqualTo(Duration.ofMillis(200));
		assertThat(LockSettings.defaults().withLease(Duration.ofSeconds(2)).commandTimeout())
			.isEqualTo(Duration.ofMillis(200));
	}

	@Test
	void r4LeaseMustOutlastFourCommandTimeouts() {
		LockSettings settings = LockSettings.defaults().withLease(Duration.ofSeconds(4));
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withCommandTimeout(Duration.ofMillis(1001)))
			.withMessageContaining("The default lease is 4000 ms")
			.withMessageContaining("1000 ms");
		settings.withCommandTimeout(Duration.ofSeconds(1));
	}

	@Test
	void valuesOutOfRangeAreRefused() {
		LockSettings settings = LockSettings.defaults();
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withLease(Duration.ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withWaitTime(Duration.ofSeconds(-1)));
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withCommandTimeout(Duration.ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withMaxPollInterval(Duration.ofMillis(-1)));
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withShutdownTimeout(Duration.ofMillis(-1)));
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withInstance(" "));
	}

	/**
	 * A shutdown that can not count its nanoseconds would release nothing.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 366 * 86_400, Long.MAX_VALUE })
	void onlyTheWaitMayBeForEver(long seconds) {
		LockSettings settings = LockSettings.defaults();
		Duration tooLong = Duration.ofSeconds(seconds);
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withMaxPollInterval(tooLong))
			.withMessageContaining("'maxPollInterval' must not be longer than PT8760H");
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withShutdownTimeout(tooLong))
			.withMessageContaining("'shutdownTimeout'");
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withHandOffMaxDuration(tooLong))
			.withMessageContaining("'handOffMaxDuration'");
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withMaxHold(tooLong))
			.withMessageContaining("'maxHold'");
		assertThat(settings.withWaitTime(tooLong).waitTime()).isEqualTo(tooLong);
	}

}
