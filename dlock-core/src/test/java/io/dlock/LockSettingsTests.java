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
		assertThat(LockSettings.builder().lease(Duration.ofSeconds(2)).build().commandTimeout())
			.isEqualTo(Duration.ofMillis(200));
	}

	@Test
	void r4LeaseMustOutlastFourCommandTimeouts() {
		LockSettings settings = LockSettings.builder().lease(Duration.ofSeconds(4)).build();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> settings.toBuilder().commandTimeout(Duration.ofMillis(1001)).build())
			.withMessageContaining("The default lease is 4000 ms")
			.withMessageContaining("1000 ms");
		settings.toBuilder().commandTimeout(Duration.ofSeconds(1)).build();
	}

	@Test
	void valuesOutOfRangeAreRefused() {
		LockSettings settings = LockSettings.defaults();
		assertThatIllegalArgumentException().isThrownBy(() -> settings.toBuilder().lease(Duration.ZERO).build());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> settings.toBuilder().waitTime(Duration.ofSeconds(-1)).build());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> settings.toBuilder().commandTimeout(Duration.ZERO).build());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> settings.toBuilder().maxPollInterval(Duration.ofMillis(-1)).build());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> settings.toBuilder().shutdownTimeout(Duration.ofMillis(-1)).build());
		assertThatIllegalArgumentException().isThrownBy(() -> settings.toBuilder().instance(" ").build());
	}

	/**
	 * A shutdown timeout beyond the range of nanoseconds would release nothing.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 366 * 86_400, Long.MAX_VALUE })
	void onlyTheWaitTimeMayBeUnlimited(long seconds) {
		LockSettings settings = LockSettings.defaults();
		Duration tooLong = Duration.ofSeconds(seconds);
		assertThatIllegalArgumentException().isThrownBy(() -> settings.toBuilder().maxPollInterval(tooLong).build())
			.withMessageContaining("'maxPollInterval' must not be longer than PT8760H");
		assertThatIllegalArgumentException().isThrownBy(() -> settings.toBuilder().shutdownTimeout(tooLong).build())
			.withMessageContaining("'shutdownTimeout'");
		assertThatIllegalArgumentException().isThrownBy(() -> settings.toBuilder().handOffMaxDuration(tooLong).build())
			.withMessageContaining("'handOffMaxDuration'");
		assertThatIllegalArgumentException().isThrownBy(() -> settings.toBuilder().maxHold(tooLong).build())
			.withMessageContaining("'maxHold'");
		assertThat(settings.toBuilder().waitTime(tooLong).build().waitTime()).isEqualTo(tooLong);
	}

	@Test
	void builderBeginsWithAllValuesOfTheSettings() {
		LockSettings settings = LockSettings.builder()
			.lease(Duration.ofSeconds(20))
			.waitTime(Duration.ofSeconds(3))
			.commandTimeout(Duration.ofMillis(900))
			.maxPollInterval(Duration.ofMillis(70))
			.shutdownTimeout(Duration.ofSeconds(7))
			.handOffMaxDuration(Duration.ofMillis(30))
			.releaseMode(ReleaseMode.ASYNC)
			.instance("me")
			.maxHold(Duration.ofMinutes(5))
			.fair(true)
			.build();
		assertThat(settings.toBuilder().build()).usingRecursiveComparison().isEqualTo(settings);
	}

}
