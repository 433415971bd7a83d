package io.dlock.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract for processes that wait: a store queues them, reserves the lock for the
 * first of them, and passes it on in one step.
 */
public abstract class WaitingContractTests extends RenewalContractTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	/**
	 * It is over soon, but not before the next command.
	 */
	private static final Duration SHORT = Duration.ofSeconds(2);

	private final MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));

	private final MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(9));

	private AcquireResult ask(String owner, @Nullable MailboxAddress mailbox, @Nullable String releasing) {
		return store().acquire(new AcquireCommand(key(), owner, LEASE, "holder " + owner, "a reason", mailbox,
				mailbox != null, releasing));
	}

	private AcquireResult ask(String owner, @Nullable MailboxAddress mailbox) {
		return ask(owner, mailbox, null);
	}

	private static Refused refused(AcquireResult result) {
		assertThat(result).isInstanceOf(Refused.class);
		return (Refused) result;
	}

	@Test
	void releasedLockIsReservedForTheHeadOfTheQueue() {
		long token = granted(ask("a", null));
		refused(ask("b", this.first));
		assertThat(store().release(key(), "a")).isTrue();
		Refused barging = refused(ask("c", null));
		assertThat(barging.remaining()).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(9));
		assertThat(barging.holder()).as("no holder").isNull();
		assertThat(granted(ask("b", this.first))).isGreaterThan(token);
		refused(ask("c", null));
	}

	@Test
	void reservedLockIsShownAsFree() {
		ask("a", null);
		ask("b", this.first);
		store().release(key(), "a");
		assertThat(store().find(key())).isEmpty();
		assertThat(store().renew(List.of(new RenewCommand(key(), "a", LEASE)))).containsExactly(RenewResult.REFUSED);
		granted(ask("b", this.first));
		assertThat(store().find(key())).hasValueSatisfying((lock) -> assertThat(lock.holder()).isEqualTo("holder b"));
	}

	@Test
	void keptLockGoesToTheHeadOfTheQueueAtItsEnd() {
		ask("a", null);
		refused(ask("b", this.first));
		assertThat(store().keep(key(), "a", LEASE)).isTrue();
		refused(ask("c", this.second));
		assertThat(store().release(key(), LockStore.keptOwner("a"))).isTrue();
		refused(ask("c", this.second));
		granted(ask("b", this.first));
		assertThat(store().release(key(), LockStore.keptOwner("a"))).as("another owner's").isFalse();
	}

	@Test
	void queueIsServedInTheOrderOfArrival() {
		ask("a", null);
		refused(ask("b", this.first));
		refused(ask("c", this.second));
		refused(ask("b", this.first));
		store().release(key(), "a");
		refused(ask("c", this.second));
		granted(ask("b", this.first));
		assertThat(store().release(key(), "b")).isTrue();
		refused(ask("b again", this.first));
		granted(ask("c", this.second));
		store().release(key(), "c");
		refused(ask("d", null));
		granted(ask("b again", this.first));
		store().release(key(), "b again");
		granted(ask("d", null));
	}

	@Test
	void repeatedAcquireQueuesOnce() {
		ask("a", null);
		for (int i = 0; i < 3; i++) {
			refused(ask("b", this.first));
		}
		store().leave(StorageKey.of(key()), this.first);
		store().release(key(), "a");
		granted(ask("c", null));
	}

	@Test
	void deadProcessInTheQueueCostsItsReservationOnly() {
		MailboxAddress dead = MailboxAddress.create(SHORT);
		ask("a", null);
		refused(ask("b", dead));
		store().release(key(), "a");
		assertThat(refused(ask("c", null)).remaining()).isLessThanOrEqualTo(SHORT);
		Awaitility.await().pollInterval(Duration.ofMillis(10)).until(() -> ask("c", null) instanceof Granted);
		store().release(key(), "c");
		granted(ask("d", null));
	}

	@Test
	void processOutsideTheQueueGetsNoReservation() {
		ask("a", null);
		refused(ask("b", null));
		store().release(key(), "a");
		granted(ask("c", null));
	}

	@Test
	void reservedLockIsGrantedEvenAfterTheWait() {
		ask("a", null);
		refused(ask("b", this.first));
		store().release(key(), "a");
		granted(store().acquire(new AcquireCommand(key(), "b2", LEASE, "holder b2", "", this.first, false, null)));
	}

	@Test
	void addressAloneDoesNotQueue() {
		ask("a", null);
		refused(store().acquire(new AcquireCommand(key(), "b", LEASE, "holder b", "", this.first, false, null)));
		store().release(key(), "a");
		granted(ask("c", null));
	}

	@Test
	void grantRemovesTheProcessFromTheQueue() {
		ask("a", null);
		refused(ask("b", this.first));
		store().release(key(), "a");
		granted(ask("b", this.first));
		store().release(key(), "b");
		granted(ask("c", null));
	}

	@Test
	void grantOfAnExpiredLockRemovesTheProcessFromTheQueue() {
		store().acquire(new AcquireCommand(key(), "a", Duration.ofSeconds(1), "holder a", ""));
		refused(ask("b", this.first));
		Awaitility.await().pollInterval(Duration.ofMillis(10)).until(() -> ask("b", this.first) instanceof Granted);
		store().release(key(), "b");
		granted(ask("c", null));
	}

	@Test
	void processThatLeftTheQueueGetsNoReservation() {
		ask("a", null);
		refused(ask("b", this.first));
		refused(ask("c", this.second));
		store().leave(StorageKey.of(key()), this.first);
		store().release(key(), "a");
		granted(ask("c", this.second));
	}

	@Test
	void leavingPassesTheReservationOn() {
		ask("a", null);
		refused(ask("b", this.first));
		refused(ask("c", this.second));
		store().release(key(), "a");
		store().leave(StorageKey.of(key()), this.first);
		refused(ask("d", null));
		store().leave(StorageKey.of(key()), this.second);
		granted(ask("d", null));
	}

	@Test
	void leavingAHeldOrUnknownKeyChangesNothing() {
		store().leave(StorageKey.of(key()), this.first);
		ask("a", this.first);
		store().leave(StorageKey.of(key()), this.first);
		refused(ask("b", null));
		assertThat(store().release(key(), "a")).isTrue();
	}

	@Test
	void r16LockIsGivenUpAndTakenAgainInOneStep() {
		long token = granted(ask("a", null));
		assertThat(granted(ask("b", this.first, "a"))).isGreaterThan(token);
		assertThat(store().release(key(), "a")).isFalse();
		assertThat(store().renew(List.of(new RenewCommand(key(), "a", LEASE)))).containsExactly(RenewResult.REFUSED);
		assertThat(store().find(key())).hasValueSatisfying((lock) -> assertThat(lock.holder()).isEqualTo("holder b"));
		assertThat(store().release(key(), "b")).isTrue();
		granted(ask("c", null));
	}

	@Test
	void lockThatIsGivenUpGoesToTheQueueFirst() {
		granted(ask("a", null));
		refused(ask("b", this.first));
		refused(ask("a2", this.second, "a"));
		assertThat(store().renew(List.of(new RenewCommand(key(), "a", LEASE)))).containsExactly(RenewResult.REFUSED);
		granted(ask("b", this.first));
		store().release(key(), "b");
		refused(ask("c", null));
		granted(ask("a2", this.second));
	}

	@Test
	void processThatWaitsItselfGetsTheLockItGivesUp() {
		granted(ask("a", null));
		refused(ask("b", this.first));
		granted(ask("b", this.first, "a"));
	}

	@Test
	void r16OnlyTheOwnerGivesUpALock() {
		granted(ask("a", null));
		refused(ask("b", null, "another owner"));
		assertThat(store().release(key(), "a")).isTrue();
		granted(ask("b", null, "another owner"));
	}

	@Test
	void r23GivingUpTwiceIsGivingUpOnce() {
		granted(ask("a", null));
		long token = granted(ask("b", null, "a"));
		assertThat(granted(ask("b", null, "a"))).as("after a lost reply").isEqualTo(token);
	}

	@Test
	void expiredLockIsGrantedToAnyProcessAndTheQueueRemains() {
		store().acquire(new AcquireCommand(key(), "a", SHORT, "holder a", ""));
		refused(ask("b", this.first));
		Awaitility.await().pollInterval(Duration.ofMillis(10)).until(() -> ask("c", null) instanceof Granted);
		refused(ask("b", this.first));
		store().release(key(), "c");
		granted(ask("b", this.first));
	}

	@Test
	void asynchronousReleaseTakesEffectBeforeLaterCommands() {
		Queue<StoreException> failures = new ConcurrentLinkedQueue<>();
		for (int i = 0; i < 100; i++) {
			granted(ask("a" + i, null));
			if (!store().releaseAsync(key(), "a" + i, failures::add)) {
				assertThat(store().release(key(), "a" + i)).isTrue();
			}
		}
		granted(ask("b", null));
		assertThat(failures).isEmpty();
		store().releaseAsync(key(), "another owner", failures::add);
		refused(ask("c", null));
	}

	@ParameterizedTest
	@ValueSource(strings = { "plain", "with spaces and %", "größer/日本 {tag}" })
	void mailboxReceivesTheStorageKey(String name) {
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		String waitedFor = key() + name;
		Mailbox mailbox = store().openMailbox(this.first, calls::add);
		if (mailbox == null) {
			return;
		}
		try (mailbox) {
			store().acquire(new AcquireCommand(waitedFor, "a", LEASE, "holder a", ""));
			store().acquire(new AcquireCommand(waitedFor, "b", LEASE, "holder b", "", this.first, true, null));
			assertThat(calls).isEmpty();
			store().release(waitedFor, "a");
			Awaitility.await().untilAsserted(() -> assertThat(calls).containsExactly(StorageKey.of(waitedFor)));
			store().leave(StorageKey.of(waitedFor), this.first);
		}
	}

	@Test
	void exchangeNotifiesTheHeadOfTheQueue() {
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		Mailbox mailbox = store().openMailbox(this.first, calls::add);
		if (mailbox == null) {
			return;
		}
		try (mailbox) {
			granted(ask("a", null));
			refused(ask("b", this.first));
			refused(ask("a2", this.second, "a"));
			Awaitility.await().untilAsserted(() -> assertThat(calls).containsExactly(StorageKey.of(key())));
		}
	}

	@Test
	void queueIsBounded() {
		ask("a", null);
		List<MailboxAddress> crowd = new ArrayList<>();
		for (int i = 0; i < 400; i++) {
			crowd.add(MailboxAddress.create(Duration.ofMillis(1)));
		}
		crowd.forEach((mailbox) -> refused(ask("owner of " + mailbox.value(), mailbox)));
		assertThat(store().release(key(), "a")).isTrue();
		Awaitility.await().pollInterval(Duration.ofMillis(2)).until(() -> ask("b", null) instanceof Granted);
	}

}
