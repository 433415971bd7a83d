package io.dlock.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The stores of two processes have the same locks.
 */
abstract class ProcessesContract extends ContractPart {

	private final MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));

	private @Nullable LockStore other;

	ProcessesContract(LockStoreContract contract) {
		super(contract);
	}

	@BeforeEach
	void createOtherStore() throws Exception {
		this.other = contract().createStoreOfAnotherProcess();
		assumeTrue(this.other != null, "The locks of the store belong to one process");
	}

	@AfterEach
	void closeOtherStore() {
		if (this.other != null) {
			this.other.close();
		}
	}

	private LockStore other() {
		return Objects.requireNonNull(this.other);
	}

	private AcquireResult acquireInOther(String owner) {
		return acquire(other(), key(), owner, LEASE);
	}

	private AcquireResult queueInOther(String owner) {
		return other()
			.acquire(new AcquireCommand(key(), owner, LEASE, "holder " + owner, REASON, this.address, true, null));
	}

	@Test
	void r44LockOfOneProcessIsRefusedToTheOther() {
		long token = granted(acquire("a", LEASE));
		Refused refused = refused(acquireInOther("b"));
		assertThat(refused.remaining()).isBetween(LEASE.minus(LONG), LEASE);
		assertThat(refused.lock()).isNotNull().satisfies((lock) -> assertThat(lock.holder()).isEqualTo("holder a"));
		assertThat(other().find(key())).hasValueSatisfying((lock) -> assertThat(lock.token()).isEqualTo(token));
		assertThat(other().release(key(), "b")).isFalse();
		assertThat(other().renew(List.of(renewal("b", LEASE)))).containsExactly(RenewResult.REFUSED);
		assertThat(release("a")).isTrue();
		assertThat(other().find(key())).isEmpty();
		assertThat(granted(acquireInOther("b"))).isGreaterThan(token);
		refused(acquire("c", LEASE));
	}

	@Test
	void r11TokensRiseFromProcessToProcess() {
		List<Long> tokens = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			tokens.add(granted(acquire("a" + i, LEASE)));
			store().release(key(), "a" + i);
			tokens.add(granted(acquireInOther("b" + i)));
			other().release(key(), "b" + i);
		}
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
	}

	@Test
	void renewalOfOneProcessIsSeenByTheOther() {
		acquire("a", LONG);
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.RENEWED);
		assertThat(refused(acquireInOther("b")).remaining()).isBetween(LEASE.minus(LONG), LEASE);
	}

	@Test
	void leaseThatIsOverIsGrantedToTheOtherProcess() {
		long token = granted(acquire("a", shortLease()));
		await().until(() -> other().find(key()).isEmpty());
		assertThat(granted(acquireInOther("b"))).isGreaterThan(token);
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		assertThat(release("a")).isFalse();
		assertThat(other().renew(List.of(renewal("b", LEASE)))).containsExactly(RenewResult.RENEWED);
	}

	@Test
	void processThatEndsLeavesTheLocksOfAll() {
		acquire("a", LEASE);
		String second = key() + "/2";
		granted(acquire(other(), second, "b", LEASE));
		other().close();
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.RENEWED);
		assertThat(refused(acquire(second, "c", LEASE)).remaining()).isBetween(LEASE.minus(LONG), LEASE);
	}

	@Test
	void releasedLockIsReservedForTheOtherProcess() {
		require(Feature.QUEUE);
		granted(acquire("a", LEASE));
		refused(queueInOther("b"));
		assertThat(release("a")).isTrue();
		refused(acquire("c", LEASE));
		granted(queueInOther("b"));
	}

	@Test
	void otherProcessIsToldOfItsReservation() {
		require(Feature.MAILBOX);
		Queue<String> told = new ConcurrentLinkedQueue<>();
		try (Mailbox mailbox = other().openMailbox(this.address, told::add)) {
			assertThat(mailbox).isNotNull();
			granted(acquire("a", LEASE));
			refused(queueInOther("b"));
			assertThat(release("a")).isTrue();
			await().untilAsserted(() -> assertThat(told).contains(StorageKey.of(key())));
			granted(queueInOther("b"));
		}
	}

	@Test
	void limitCountsTheMembersOfAllProcesses() {
		assumeTrue(store().supportsMembers(), "The store supports no members");
		granted(permit(store(), "+a"));
		granted(permit(other(), "+b"));
		refused(permit(store(), "+c"));
		refused(permit(other(), "+d"));
		refused(acquireInOther("e"));
		assertThat(release("+a")).isTrue();
		granted(permit(other(), "+d"));
	}

	private AcquireResult permit(LockStore store, String owner) {
		return store.acquire(new AcquireCommand(key(), owner, LEASE, "holder " + owner, REASON, null, false, null, 2));
	}

	@Test
	void r55OperatorReleasesALockOfTheOtherProcess() {
		require(Feature.INSPECTION);
		long token = granted(acquireInOther("a"));
		assertThat(inspection().findStored(key())).isPresent();
		assertThat(inspection().forceRelease(key(), token)).isTrue();
		assertThat(other().renew(List.of(renewal("a", LEASE)))).containsExactly(RenewResult.REFUSED);
		granted(acquire("b", LEASE));
	}

	@Test
	void r44NothingIsLostUnderContentionOfTwoProcesses() throws Exception {
		Counter counter = new Counter(25);
		List<Callable<Void>> calls = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			LockStore own = (i % 2 == 0) ? store() : other();
			String prefix = "t" + i + "-";
			calls.add(() -> counter.count(own, prefix));
		}
		inThreads(calls.size(), calls);
		counter.assertCounted(calls.size());
	}

}
