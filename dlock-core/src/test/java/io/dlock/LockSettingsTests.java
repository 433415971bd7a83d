package io.dlock;

import java.time.Duration;
import java.util.function.UnaryOperator;

import org.assertj.core.api.ThrowableAssertAlternative;
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
	void restartedProcessHasAnotherName() {
		ProcessHandle process = ProcessHandle.current();
		assertThat(LockSettings.defaults().instance()).isEqualTo("pid-" + process.pid() + "-"
				+ Long.toString(process.info().startInstant().orElseThrow().toEpochMilli(), 36));
	}

	@Test
	void r4LeaseMustOutlastFourCommandTimeouts() {
		LockSettings settings = LockSettings.builder().lease(Duration.ofSeconds(4)).build();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> settings.toBuilder().commandTimeout(Duration.ofMillis(1001)).build())
			.withMessageContaining("'lease' is 4000 ms")
			.withMessageContaining("1000 ms");
		settings.toBuilder().commandTimeout(Duration.ofSeconds(1)).build();
	}

	@Test
	void valuesOutOfRangeAreRefused() {
		assertRefuses((settings) -> settings.lease(Duration.ZERO));
		assertRefuses((settings) -> settings.waitTime(Duration.ofSeconds(-1)));
		assertRefuses((settings) -> settings.commandTimeout(Duration.ZERO));
		assertRefuses((settings) -> settings.maxPollInterval(Duration.ofMillis(-1)));
		assertRefuses((settings) -> settings.shutdownTimeout(Duration.ofMillis(-1)));
		assertRefuses((settings) -> settings.instance(" "));
		assertRefuses((settings) -> settings.instance("a\tb")).withMessageContaining("control characters");
		assertRefuses((settings) -> settings.instance("x".repeat(201)))
			.withMessageContaining("must not be longer than 200 characters but has 201");
	}

	/**
	 * A shutdown timeout beyond the range of nanoseconds would release nothing.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 366 * 86_400, Long.MAX_VALUE })
	void onlyTheWaitTimeMayBeUnlimited(long seconds) {
		Duration tooLong = Duration.ofSeconds(seconds);
		assertRefuses((settings) -> settings.maxPollInterval(tooLong))
			.withMessageContaining("'maxPollInterval' must not be longer than PT8760H");
		assertRefuses((settings) -> settings.commandTimeout(tooLong)).withMessageContaining("'commandTimeout'");
		assertRefuses((settings) -> settings.shutdownTimeout(tooLong)).withMessageContaining("'shutdownTimeout'");
		assertRefuses((settings) -> settings.handOffMaxDuration(tooLong)).withMessageContaining("'handOffMaxDuration'");
		assertRefuses((settings) -> settings.maxHold(tooLong)).withMessageContaining("'maxHold'");
		assertThat(LockSettings.builder().waitTime(tooLong).build().waitTime()).isEqualTo(tooLong);
	}

	private static ThrowableAssertAlternative<IllegalArgumentException> assertRefuses(
			UnaryOperator<LockSettingsBuilder> change) {
		LockSettingsBuilder settings = change.apply(LockSettings.builder());
		return assertThatIllegalArgumentException().isThrownBy(settings::build);
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
			.longestLease(Duration.ofMinutes(2))
			.build();
		assertThat(settings.toBuilder().build()).usingRecursiveComparison().isEqualTo(settings);
	}

}
