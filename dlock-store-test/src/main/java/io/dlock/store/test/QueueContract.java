package io.dlock.store.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A store queues the processes that wait, reserves a released lock for the first of them,
 * and passes it on in one step.
 */
abstract class QueueContract extends ContractPart {

	/** Over soon, but mostly not before the next command. */
	private static final Duration SOON = Duration.ofSeconds(1);

	/** A store may forget a queue so long after the lease or the reservation. */
	private static final Duration FORGOTTEN = Duration.ofSeconds(1);

	private final MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));

	private final MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(9));

	QueueContract(LockStoreContract contract) {
		super(contract, Feature.QUEUE);
	}

	@Test
	void releasedLockIsReservedForTheHeadOfTheQueue() {
		long token = granted(ask("a", null));
		refused(ask("b", this.first));
		assertThat(release("a")).isTrue();
		Refused barging = refused(ask("c", null));
		assertThat(barging.remaining()).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(9));
		assertThat(barging.lock()).as("no holder").isNull();
		assertThat(granted(ask("b", this.first))).isGreaterThan(token);
		refused(ask("c", null));
	}

	@Test
	void reservedLockIsShownAsFree() {
		ask("a", null);
		ask("b", this.first);
		release("a");
		assertThat(find()).isEmpty();
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		granted(ask("b", this.first));
		assertThat(find()).hasValueSatisfying((lock) -> assertThat(lock.holder()).isEqualTo("holder b"));
	}

	@Test
	void queueIsServedInTheOrderOfArrival() {
		ask("a", null);
		refused(ask("b", this.first));
		refused(ask("c", this.second));
		refused(ask("b", this.first));
		release("a");
		refused(ask("c", this.second));
		granted(ask("b", this.first));
		assertThat(release("b")).isTrue();
		refused(ask("b again", this.first));
		granted(ask("c", this.second));
		release("c");
		refused(ask("d", null));
		granted(ask("b again", this.first));
		release("b again");
		granted(ask("d", null));
	}

	@Test
	void refusalTellsThePlaceOrNothing() {
		ask("a", null);
		assumeTrue(refused(ask("b", this.first)).place() >= 0, "The store tells no place");
		assertThat(refused(ask("c", this.second)).place()).isEqualTo(1);
		assertThat(refused(ask("b", this.first)).place()).isZero();
		assertThat(refused(ask("c", this.second)).place()).isEqualTo(1);
		assertThat(refused(ask("d", null)).place()).as("not queued").isEqualTo(2);
		release("a");
		assertThat(refused(ask("c", this.second)).place()).as("the next after a reservation").isZero();
	}

	@Test
	void repeatedAcquireQueuesOnce() {
		ask("a", null);
		for (int i = 0; i < 3; i++) {
			refused(ask("b", this.first));
		}
		store().leave(StorageKey.of(key()), this.first);
		release("a");
		granted(ask("c", null));
	}

	@Test
	void deadProcessInTheQueueCostsItsReservationOnly() {
		MailboxAddress dead = MailboxAddress.create(SOON);
		untilInTime(SOON, () -> {
			ask("a", null);
			refused(ask("b", dead));
			release("a");
			AcquireResult result = ask("c", null);
			if (result instanceof Refused barging) {
				assertThat(barging.remaining()).isLessThanOrEqualTo(SOON);
			}
			return result instanceof Refused;
		});
		await().until(() -> ask("c", null) instanceof Granted);
		release("c");
		granted(ask("d", null));
	}

	@Test
	void reservationIsNoShorterIfOthersWait() {
		untilInTime(SOON.dividedBy(2), () -> {
			ask("a", null);
			refused(ask("b", MailboxAddress.create(SOON)));
			refused(ask("c", this.second));
			release("a");
			return ask("d", null) instanceof Refused refused && refused.remaining().compareTo(SOON.dividedBy(2)) > 0;
		});
	}

	@Test
	void processOutsideTheQueueGetsNoReservation() {
		ask("a", null);
		refused(ask("b", null));
		release("a");
		granted(ask("c", null));
	}

	@Test
	void reservedLockIsGrantedEvenAfterTheWait() {
		ask("a", null);
		refused(ask("b", this.first));
		release("a");
		granted(ask(key(), "b2", this.first, false, null));
	}

	@Test
	void requestsOfOneProcessAreGrantedInTheOrderOfArrival() {
		assumeTrue(store().supportsFairLocks(), "The store has no fair locks");
		MailboxAddress one = this.first.ofRequest(1);
		MailboxAddress two = this.first.ofRequest(2);
		ask("a", null);
		refused(ask("c", two));
		refused(ask("b", one));
		release("a");
		refused(ask("b", one));
		granted(ask("c", two));
		release("c");
		refused(ask("d", two));
		granted(ask("b", one));
	}

	@Test
	void addressAloneDoesNotQueue() {
		ask("a", null);
		refused(ask(key(), "b", this.first, false, null));
		release("a");
		granted(ask("c", null));
	}

	@Test
	void grantRemovesTheProcessFromTheQueue() {
		ask("a", null);
		refused(ask("b", this.first));
		release("a");
		granted(ask("b", this.first));
		release("b");
		granted(ask("c", null));
	}

	@Test
	void grantOfAnExpiredLockRemovesTheProcessFromTheQueue() {
		untilInTime(SOON, () -> {
			acquire("a", SOON);
			return ask("b", this.first) instanceof Refused;
		});
		await().until(() -> ask("b", this.first) instanceof Granted);
		release("b");
		granted(ask("c", null));
	}

	@Test
	void processThatLeftTheQueueGetsNoReservation() {
		ask("a", null);
		refused(ask("b", this.first));
		refused(ask("c", this.second));
		store().leave(StorageKey.of(key()), this.first);
		release("a");
		granted(ask("c", this.second));
	}

	@Test
	void leavingPassesTheReservationOn() {
		ask("a", null);
		refused(ask("b", this.first));
		refused(ask("c", this.second));
		release("a");
		store().leave(StorageKey.of(key()), this.first);
		refused(ask("d", null));
		store().leave(StorageKey.of(key()), this.second);
		granted(ask("d", null));
	}

	@Test
	void reservationThatIsOverIsNotPassedOn() {
		MailboxAddress late = MailboxAddress.create(shortLease());
		ask("a", null);
		refused(ask("b", late));
		refused(ask("c", this.second));
		release("a");
		Instant end = Instant.now().plus(shortLease()).plusMillis(50);
		await().until(() -> Instant.now().isAfter(end));
		store().leave(StorageKey.of(key()), late);
		granted(ask("d", null));
	}

	@Test
	void processThatDoesNotWaitLeavesTheReservationOfOthers() {
		ask("a", null);
		refused(ask("b", this.first));
		release("a");
		store().leave(StorageKey.of(key()), this.second);
		refused(ask("c", null));
		granted(ask("b", this.first));
	}

	@Test
	void queueOfALongKeyIsLeftByItsStorageKey() {
		String key = key() + "/é".repeat(1000);
		granted(ask(key, "a", null, false, null));
		refused(ask(key, "b", this.first, true, null));
		store().leave(StorageKey.of(key), this.first);
		assertThat(store().release(key, "a")).isTrue();
		granted(ask(key, "c", null, false, null));
	}

	/**
	 * A request that the network holds back arrives when its owner has released the lock.
	 */
	@Test
	void r23LateRequestTakesAFreeLockAndNoneOfAnother() {
		granted(ask("a", this.first));
		release("a");
		granted(ask("a", this.first));
		release("a");
		granted(ask("b", this.second));
		refused(ask("a", this.first));
		assertThat(release("b")).isTrue();
		refused(ask("c", null));
		granted(ask("a", this.first));
		store().leave(StorageKey.of(key()), this.first);
		assertThat(release("a")).isTrue();
		granted(ask("c", null));
	}

	@Test
	void leavingAHeldOrUnknownKeyChangesNothing() {
		store().leave(StorageKey.of(key()), this.first);
		ask("a", this.first);
		store().leave(StorageKey.of(key()), this.first);
		refused(ask("b", null));
		assertThat(release("a")).isTrue();
	}

	@Test
	void lockThatIsGivenUpGoesToTheQueueFirst() {
		granted(ask("a", null));
		refused(ask("b", this.first));
		refused(ask("a2", this.second, "a"));
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		granted(ask("b", this.first));
		release("b");
		refused(ask("c", null));
		granted(ask("a2", this.second));
	}

	@Test
	void r16LeaseThatIsOverIsNotPassedOn() {
		untilInTime(shortLease(), () -> {
			acquire("a", shortLease());
			return ask("b", this.first) instanceof Refused;
		});
		await().until(() -> find().isEmpty());
		assertThat(release("a")).isFalse();
		granted(ask("c", null));
	}

	@Test
	void r16LeaseThatIsOverIsNotPassedOnByAnAcquire() {
		untilInTime(shortLease(), () -> {
			acquire("a", shortLease());
			return ask("b", this.first) instanceof Refused;
		});
		await().until(() -> find().isEmpty());
		granted(ask("a2", this.second, "a"));
	}

	@Test
	void processThatWaitsItselfGetsTheLockItGivesUp() {
		granted(ask("a", null));
		refused(ask("b", this.first));
		granted(ask("b", this.first, "a"));
	}

	/**
	 * A store may forget a queue a second after its lock.
	 */
	@Test
	void expiredLockIsGrantedToAnyProcessAndTheQueueRemains() {
		untilInTime(SOON, () -> {
			long begin = System.nanoTime();
			acquire("a", SOON);
			if (ask("b", this.first) instanceof Granted) {
				return false;
			}
			await().until(() -> ask("c", null) instanceof Granted);
			release("c");
			boolean queued = ask("d", null) instanceof Refused;
			if (!queued) {
				assertOver(SOON.multipliedBy(2), begin);
			}
			return queued;
		});
		granted(ask("b", this.first));
	}

	/**
	 * The holder dies, and the second request asks before the first one does.
	 */
	@Test
	void fairRequestsAreServedInTheirOrderAfterALeaseThatIsOver() {
		assumeTrue(store().supportsFairLocks(), "The store has no fair locks");
		MailboxAddress one = this.first.ofRequest(1);
		MailboxAddress two = this.first.ofRequest(2);
		untilInTime(SOON.plus(FORGOTTEN), () -> {
			acquire("a", SOON);
			ask("b", one);
			AcquireResult result = ask("c", two);
			while (result instanceof Refused refused && refused.lock() != null) {
				result = ask("c", two);
			}
			return result instanceof Refused;
		});
		assertThat(refused(ask("c", two)).remaining()).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(9));
		refused(ask("d", null));
		granted(ask("b", one));
		release("b");
		granted(ask("c", two));
	}

	/**
	 * The one that dies is the first of the queue, and the last one asks first.
	 */
	@Test
	void fairRequestsAreServedInTheirOrderAfterADeadOne() {
		assumeTrue(store().supportsFairLocks(), "The store has no fair locks");
		MailboxAddress dead = MailboxAddress.create(shortLease()).ofRequest(1);
		MailboxAddress one = this.first.ofRequest(1);
		MailboxAddress two = this.first.ofRequest(2);
		untilInTime(shortLease().plus(FORGOTTEN), () -> {
			ask("a", null);
			refused(ask("d", dead));
			refused(ask("b", one));
			release("a");
			Instant end = Instant.now().plus(shortLease()).plusMillis(50);
			await().until(() -> Instant.now().isAfter(end));
			return ask("c", two) instanceof Refused refused && refused.remaining().compareTo(shortLease()) > 0;
		});
		granted(ask("b", one));
		release("b");
		granted(ask("c", two));
		release("c");
		granted(ask("d", null));
	}

	/**
	 * A process that believes to be in the queue polls as slowly as its place says.
	 */
	@Test
	void requestThatFindsTheQueueFullIsToldThatItHasNoPlace() throws Exception {
		granted(acquire("a", Duration.ofHours(1)));
		List<MailboxAddress> queued = fillQueue((mailbox) -> ask("b", mailbox));
		assertThat(refused(ask("b", queued.get(1))).place()).isOne();
		assertThat(refused(ask("c", null)).place()).as("does not queue").isEqualTo(queued.size());
		store().leave(StorageKey.of(key()), queued.get(0));
		assertThat(refused(ask("b", this.first)).place()).isEqualTo(queued.size() - 1);
		assertThat(refused(ask("c", this.second)).place()).isNegative();
	}

	@Test
	void queueIsBounded() {
		granted(acquire("a", Duration.ofHours(1)));
		List<MailboxAddress> crowd = new ArrayList<>();
		for (int i = 0; i < 400; i++) {
			crowd.add(MailboxAddress.create(Duration.ofMillis(1)));
		}
		crowd.forEach((mailbox) -> refused(ask("owner of " + mailbox.value(), mailbox)));
		assertThat(release("a")).isTrue();
		await().until(() -> ask("b", null) instanceof Granted);
	}

}
