package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.dlock.autoconfigure.StartupRetry.UnusableStoreException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreMisconfiguredException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Attempts to use a store at the start.
 */
class StartupRetryTests {

	private final AtomicInteger attempts = new AtomicInteger();

	private void fail() {
		this.attempts.incrementAndGet();
		throw new StoreException(Effect.NONE, false, "no answer", null);
	}

	@Test
	void storeThatComesBackIsUsed() {
		new StartupRetry(Duration.ofMinutes(5)).use(() -> {
			if (this.attempts.get() < 2) {
				fail();
			}
		});
		assertThat(this.attempts).hasValue(2);
	}

	@Test
	void misconfigurationIsNotRepeatedWhateverItsCause() {
		StoreException noAnswer = new StoreException(Effect.NONE, false, "no answer", null);
		StoreMisconfiguredException wrong = new StoreMisconfiguredException("Wrong.", "Correct it.", noAnswer);
		assertThatExceptionOfType(StoreMisconfiguredException.class)
			.isThrownBy(() -> new StartupRetry(Duration.ofSeconds(2)).use(() -> {
				this.attempts.incrementAndGet();
				throw wrong;
			}))
			.isSameAs(wrong);
		assertThat(this.attempts).hasValue(1);
	}

	@Test
	void r50InterruptedThreadStartsNoFurtherAttempt() {
		StartupRetry retry = new StartupRetry(Duration.ofSeconds(2));
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> retry.use(this::fail))
			.satisfies((ex) -> assertThat(ex.last()).hasMessageContaining("no answer"));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.attempts).hasValue(1);
	}

}
