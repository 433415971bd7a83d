package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockPlacesTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	private final LockPlaces places = new LockPlaces(2, TIMEOUT);

	private static void awaitMoreThan(Duration time) {
		long begin = System.nanoTime();
		Awaitility.await().until(() -> System.nanoTime() - begin > time.toNanos());
	}

	/**
	 * A method with {@code onStoreFailure = PROCEED} would run without its lock. On a
	 * busy machine the answer may come too late.
	 */
	@Test
	void timeWithoutCallsIsNoSilenceOfTheDatabase() {
		MachineWatch.repeatIfLate(() -> {
			LockPlaces idle = new LockPlaces(2, TIMEOUT);
			awaitMoreThan(TIMEOUT);
			try (LockPlaces.Place first = idle.enter(false)) {
				Thread slow = new Thread(() -> {
					awaitMoreThan(TIMEOUT.multipliedBy(3).dividedBy(5));
					first.answered();
				});
				slow.start();
				assertThatExceptionOfType(StoreCongestedException.class).isThrownBy(() -> idle.enter(false));
			}
		});
	}

	@Test
	void callsThatAreNotAnsweredAreASilenceOfTheDatabase() {
		try (LockPlaces.Place first = this.places.enter(false)) {
			awaitMoreThan(TIMEOUT);
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.places.enter(false))
				.isNotInstanceOf(StoreCongestedException.class);
		}
	}

	@Test
	void placeOfARenewalIsFreeForTheNextRenewalOnly() {
		this.places.enter(true).close();
		try (LockPlaces.Place other = this.places.enter(false)) {
			other.answered();
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.places.enter(false));
			this.places.enter(true).close();
		}
	}

	@Test
	void renewalWithoutThePlaceOfRenewalsTakesAnother() {
		try (LockPlaces.Place first = this.places.enter(true)) {
			first.answered();
			this.places.enter(true).close();
		}
	}

	/**
	 * A thread that takes one lock after the other would keep this one waiting.
	 */
	@Test
	void placeGoesToTheThreadThatHasWaitedLong() throws InterruptedException {
		LockPlaces patient = new LockPlaces(2, Patience.COMMAND);
		LockPlaces.Place first = patient.enter(false);
		assertThat(orderOf(patient, first, (waiting) -> patient.waitingLong() == 1)).containsExactly("waiting",
				"again");
		assertThat(patient.waitingLong()).isZero();
	}

	/**
	 * Otherwise each thread would sleep before each call as soon as one waits.
	 */
	@Test
	void threadThatComesForAFreePlaceOvertakesOneThatHasJustBegunToWait() {
		LockPlaces patient = new LockPlaces(2, Patience.COMMAND);
		Awaitility.await()
			.until(() -> orderOf(patient, patient.enter(false),
					(waiting) -> waiting.getState() == Thread.State.TIMED_WAITING)
				.equals(List.of("again", "waiting")));
	}

	private static List<String> orderOf(LockPlaces places, LockPlaces.Place first, Predicate<Thread> isWaiting)
			throws InterruptedException {
		List<String> order = new CopyOnWriteArrayList<>();
		Thread waiting = new Thread(() -> {
			try (LockPlaces.Place next = places.enter(false)) {
				next.answered();
				order.add("waiting");
			}
		});
		waiting.start();
		Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> isWaiting.test(waiting));
		first.close();
		try (LockPlaces.Place again = places.enter(false)) {
			again.answered();
			order.add("again");
		}
		waiting.join();
		return order;
	}

	@Test
	void r50InterruptedCallHasNoEffectAndKeepsTheFlag() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.places.enter(false))
			.returns(Effect.NONE, StoreException::effect);
		assertThat(Thread.interrupted()).isTrue();
	}

}
