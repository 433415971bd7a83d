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

class ConnectionSlotsTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	private final ConnectionSlots slots = new ConnectionSlots(2, TIMEOUT);

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
			ConnectionSlots idle = new ConnectionSlots(2, TIMEOUT);
			awaitMoreThan(TIMEOUT);
			try (ConnectionSlots.Slot first = idle.enter(false)) {
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
		try (ConnectionSlots.Slot first = this.slots.enter(false)) {
			awaitMoreThan(TIMEOUT);
			long begin = System.nanoTime();
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.slots.enter(false))
				.isNotInstanceOf(StoreCongestedException.class);
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).as("the database may answer again")
				.isGreaterThanOrEqualTo(TIMEOUT.dividedBy(2));
		}
	}

	@Test
	void slotOfARenewalIsFreeForTheNextRenewalOnly() {
		this.slots.enter(true).close();
		try (ConnectionSlots.Slot other = this.slots.enter(false)) {
			other.answered();
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.slots.enter(false));
			this.slots.enter(true).close();
		}
	}

	@Test
	void renewalWithoutTheSlotOfRenewalsTakesAnother() {
		try (ConnectionSlots.Slot first = this.slots.enter(true)) {
			first.answered();
			this.slots.enter(true).close();
		}
	}

	/**
	 * A thread that takes one lock after the other would keep this one waiting.
	 */
	@Test
	void slotGoesToTheThreadThatHasWaitedLong() throws InterruptedException {
		ConnectionSlots patient = new ConnectionSlots(2, Patience.COMMAND);
		ConnectionSlots.Slot first = patient.enter(false);
		assertThat(orderOf(patient, first, (waiting) -> patient.waitingLong() == 1)).containsExactly("waiting",
				"again");
		assertThat(patient.waitingLong()).isZero();
	}

	/**
	 * Otherwise each thread would sleep before each call as soon as one waits.
	 */
	@Test
	void threadThatComesForAFreeSlotOvertakesOneThatHasJustBegunToWait() {
		ConnectionSlots patient = new ConnectionSlots(2, Patience.COMMAND);
		Awaitility.await()
			.until(() -> orderOf(patient, patient.enter(false),
					(waiting) -> waiting.getState() == Thread.State.TIMED_WAITING)
				.equals(List.of("again", "waiting")));
	}

	private static List<String> orderOf(ConnectionSlots slots, ConnectionSlots.Slot first, Predicate<Thread> isWaiting)
			throws InterruptedException {
		List<String> order = new CopyOnWriteArrayList<>();
		Thread waiting = new Thread(() -> {
			try (ConnectionSlots.Slot next = slots.enter(false)) {
				next.answered();
				order.add("waiting");
			}
		});
		waiting.start();
		Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> isWaiting.test(waiting));
		first.close();
		try (ConnectionSlots.Slot again = slots.enter(false)) {
			again.answered();
			order.add("again");
		}
		waiting.join();
		return order;
	}

	@Test
	void r50InterruptedCallHasNoEffectAndKeepsTheFlag() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.slots.enter(false))
			.returns(Effect.NONE, StoreException::effect);
		assertThat(Thread.interrupted()).isTrue();
	}

}
