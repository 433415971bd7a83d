package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.jdbc.LockPlaces.Place;

import static org.assertj.core.api.Assertions.assertThat;

class AbandonedSessionsTests {

	private static final Duration PAUSE = Duration.ofMillis(10);

	private final AtomicInteger attempts = new AtomicInteger();

	/**
	 * Each attempt without an answer leaves another session behind.
	 */
	@Test
	void d1AttemptsWithoutAnAnswerBecomeRare() {
		try (AbandonedSessions sessions = failing(Effect.UNKNOWN)) {
			sessions.add("1", Place.uncounted());
			Awaitility.await()
				.during(PAUSE.multipliedBy(200))
				.untilAsserted(() -> assertThat(this.attempts.get()).isBetween(1, 8));
		}
	}

	@Test
	void d1AttemptsWithoutAConnectionGoOn() {
		try (AbandonedSessions sessions = failing(Effect.NONE)) {
			sessions.add("1", Place.uncounted());
			Awaitility.await().until(() -> this.attempts.get() > 100);
		}
	}

	private AbandonedSessions failing(Effect effect) {
		return new AbandonedSessions((sessions) -> {
			this.attempts.incrementAndGet();
			throw new StoreException(effect, false, "no answer", null);
		}, PAUSE);
	}

}
