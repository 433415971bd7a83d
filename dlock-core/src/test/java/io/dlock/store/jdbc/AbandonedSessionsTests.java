package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.jdbc.ConnectionSlots.Slot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class AbandonedSessionsTests {

	private static final Duration PAUSE = Duration.ofMillis(10);

	private final AtomicInteger attempts = new AtomicInteger();

	/** Zero: each attempt that fails has waited for an answer. */
	private Duration timeout = Duration.ZERO;

	/** One slot for a call that is no renewal. */
	private final ConnectionSlots slots = new ConnectionSlots(2, PAUSE);

	/**
	 * Each attempt without an answer leaves another session behind.
	 */
	@Test
	void d1AttemptsWithoutAnAnswerBecomeRare() {
		try (AbandonedSessions sessions = failing(Effect.UNKNOWN, false, PAUSE)) {
			sessions.add("1", Slot.uncounted());
			Awaitility.await()
				.during(PAUSE.multipliedBy(200))
				.untilAsserted(() -> assertThat(this.attempts.get()).isBetween(1, 8));
		}
	}

	@Test
	void d1AttemptsAfterAnAnswerAreNotRare() {
		Duration pause = Duration.ofMillis(1);
		try (AbandonedSessions sessions = asking((asked) -> {
			if (this.attempts.get() == 7) {
				return asked;
			}
			throw new StoreException(Effect.UNKNOWN, false, "no answer", null);
		}, pause)) {
			sessions.add("1", Slot.uncounted());
			Awaitility.await().until(() -> this.attempts.get() > 10);
		}
	}

	@Test
	void d1AttemptsWithoutAConnectionGoOn() {
		try (AbandonedSessions sessions = failing(Effect.NONE, false, PAUSE)) {
			sessions.add("1", Slot.uncounted());
			Awaitility.await().until(() -> this.attempts.get() > 100);
		}
	}

	/**
	 * A proxy, or a restart of the server, resets one connection after the other, while
	 * all slots belong to sessions that are gone.
	 */
	@Test
	void d1AttemptsOnConnectionsThatBreakGoOn() {
		this.timeout = Duration.ofHours(1);
		try (AbandonedSessions sessions = failing(Effect.UNKNOWN, false, PAUSE)) {
			sessions.add("1", Slot.uncounted());
			Awaitility.await().until(() -> this.attempts.get() > 100);
		}
	}

	@Test
	void d1SessionKeepsItsSlotUntilItIsGone() {
		Set<String> existing = ConcurrentHashMap.newKeySet();
		try (AbandonedSessions sessions = asking((asked) -> asked.stream().filter(existing::contains).toList())) {
			for (String session : List.of("1", "2")) {
				existing.add(session);
				abandon(sessions, session);
				int before = this.attempts.get();
				Awaitility.await().until(() -> this.attempts.get() > before + 2);
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.slots.enter(false));
				existing.remove(session);
				awaitFreeSlot();
			}
		}
	}

	@Test
	void d1ServerIsNotAskedWithoutAPause() {
		Duration pause = PAUSE.multipliedBy(10);
		try (AbandonedSessions sessions = asking((asked) -> asked, pause)) {
			long begin = System.nanoTime();
			sessions.add("1", Slot.uncounted());
			Awaitility.await()
				.until(() -> this.attempts.get() > 0 && System.nanoTime() - begin > pause.multipliedBy(10).toNanos());
			int asked = this.attempts.get();
			assertThat(asked).isLessThanOrEqualTo((int) (2 * (System.nanoTime() - begin) / pause.toNanos()));
		}
	}

	/**
	 * A user without the right to end a session would have no lock any more.
	 */
	@Test
	void d1SessionWhoseEndCanNeverBeConfirmedGivesItsSlotBack() {
		try (AbandonedSessions sessions = failing(Effect.NONE, true, PAUSE)) {
			abandon(sessions, "1");
			awaitFreeSlot();
		}
	}

	@Test
	void d1SessionThatTheServerCannotNameGivesItsSlotBack() {
		try (AbandonedSessions sessions = failing(Effect.NONE, false, PAUSE)) {
			abandon(sessions, "");
			this.slots.enter(false).close();
			assertThat(this.attempts).hasValue(0);
		}
	}

	@Test
	void d1ErrorDoesNotEndTheAttempts() {
		try (AbandonedSessions sessions = asking((asked) -> {
			if (this.attempts.get() < 3) {
				throw new NoClassDefFoundError("com/example/Missing");
			}
			return List.of();
		})) {
			abandon(sessions, "1");
			awaitFreeSlot();
		}
	}

	@Test
	void closeEndsTheThreadDuringItsPause() {
		Set<Thread> before = threads();
		try (AbandonedSessions sessions = failing(Effect.UNKNOWN, false, Duration.ofHours(1))) {
			sessions.add("1", Slot.uncounted());
			Awaitility.await().until(() -> this.attempts.get() == 1);
		}
		Awaitility.await().until(() -> before.containsAll(threads()));
	}

	private static Set<Thread> threads() {
		Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
		threads.removeIf((thread) -> !thread.getName().equals("dlock-sessions"));
		return threads;
	}

	private void abandon(AbandonedSessions sessions, String session) {
		try (Slot slot = this.slots.enter(false)) {
			sessions.add(session, slot);
		}
	}

	private void awaitFreeSlot() {
		Awaitility.await().ignoreException(StoreException.class).untilAsserted(() -> this.slots.enter(false).close());
	}

	private AbandonedSessions failing(Effect effect, boolean permanent, Duration longestPause) {
		return asking((sessions) -> {
			throw new StoreException(effect, permanent, "no answer", null);
		}, longestPause);
	}

	private AbandonedSessions asking(UnaryOperator<Collection<String>> server) {
		return asking(server, PAUSE);
	}

	private AbandonedSessions asking(UnaryOperator<Collection<String>> server, Duration longestPause) {
		return new AbandonedSessions((sessions) -> {
			this.attempts.incrementAndGet();
			return server.apply(sessions);
		}, longestPause, this.timeout);
	}

}
