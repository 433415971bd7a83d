package io.dlock.store.test;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link io.dlock.store.LockStore#release} frees the lock of its owner, by itself or in
 * one step with an acquire.
 */
abstract class ReleaseContract extends ContractPart {

	private final MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));

	ReleaseContract(LockStoreContract contract) {
		super(contract);
	}

	@Test
	void releaseFreesAtOnceAndOnlyOnce() {
		acquire("a", LEASE);
		assertThat(release("a")).isTrue();
		assertThat(release("a")).isFalse();
		granted(acquire("b", LEASE));
	}

	@Test
	void releaseOfAFreeKeyIsNoError() {
		assertThat(release("a")).isFalse();
	}

	@Test
	void r16ReleaseByAnotherOwnerChangesNothing() {
		acquire("a", LEASE);
		assertThat(release("b")).isFalse();
		assertThat(release("")).isFalse();
		refused(acquire("c", LEASE));
	}

	@Test
	void r16LeaseThatIsOverIsNotReleased() {
		acquire("a", shortLease());
		await().until(() -> find().isEmpty());
		assertThat(release("a")).isFalse();
		assertThat(release("")).as("of no owner").isFalse();
		granted(acquire("b", LEASE));
		assertThat(release("a")).isFalse();
		refused(acquire("c", LEASE));
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

	@Test
	void releaseThatIsReportedAsSentTakesEffectBeforeLaterCommands() {
		for (int i = 0; i < 20; i++) {
			granted(ask("a" + i, null));
			Queue<AcquireResult> later = new ConcurrentLinkedQueue<>();
			String next = "b" + i;
			assertThat(store().release(key(), "a" + i, () -> later.add(acquireInAThread(next)))).isTrue();
			assertThat(later).allSatisfy(ContractPart::granted);
			store().release(key(), next);
		}
		assertThat(store().release(key(), "a", () -> {
		})).as("not held").isFalse();
	}

	/**
	 * The thread that reports is that of the store.
	 */
	private AcquireResult acquireInAThread(String owner) {
		return CompletableFuture.supplyAsync(() -> acquire(owner, LEASE)).join();
	}

	@Test
	void r16LockIsGivenUpAndTakenAgainInOneStep() {
		long token = granted(ask("a", null));
		assertThat(granted(ask("b", this.first, "a"))).isGreaterThan(token);
		assertThat(release("a")).isFalse();
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		assertThat(find()).hasValueSatisfying((lock) -> assertThat(lock.holder()).isEqualTo("holder b"));
		assertThat(release("b")).isTrue();
		granted(ask("c", null));
	}

	@Test
	void r16OnlyTheOwnerGivesUpALock() {
		granted(ask("a", null));
		refused(ask("b", null, "another owner"));
		assertThat(release("a")).isTrue();
		granted(ask("b", null, "another owner"));
	}

	@Test
	void r23GivingUpTwiceIsGivingUpOnce() {
		granted(ask("a", null));
		long token = granted(ask("b", null, "a"));
		assertThat(granted(ask("b", null, "a"))).as("after a lost reply").isEqualTo(token);
	}

}
