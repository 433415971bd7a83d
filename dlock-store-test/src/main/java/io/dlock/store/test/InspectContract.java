package io.dlock.store.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.Test;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Operators list locks and release them.
 */
abstract class InspectContract extends ContractPart {

	private final MailboxAddress mailbox = MailboxAddress.create(Duration.ofSeconds(9));

	InspectContract(LockStoreContract contract) {
		super(contract, Feature.INSPECTION);
	}

	/**
	 * Only locks of this test: the others of the class may have left some.
	 */
	private List<StoredLock> mine() {
		StoredLocks locks = inspection().list(10_000);
		assertThat(locks.complete()).isTrue();
		return locks.locks().stream().filter((lock) -> lock.storageKey().startsWith(key())).toList();
	}

	@Test
	void r55ListReturnsHoldersAndReasons() {
		long first = granted(acquire("a", LEASE));
		long second = granted(acquire(key() + "/2", "b", LEASE));
		List<StoredLock> locks = mine();
		assertThat(locks).extracting(StoredLock::storageKey).containsExactlyInAnyOrder(key(), key() + "/2");
		assertThat(locks).extracting(StoredLock::holder).containsExactlyInAnyOrder("holder a", "holder b");
		assertThat(locks).extracting(StoredLock::reason).containsOnly(REASON);
		assertThat(locks).extracting(StoredLock::token).containsExactlyInAnyOrder(first, second);
		assertThat(locks).allSatisfy((lock) -> {
			assertThat(lock.until()).isAfter(lock.since());
			assertThat(Duration.between(lock.since(), lock.until())).isBetween(LEASE.minusSeconds(1),
					LEASE.plusSeconds(1));
			assertThat(lock.since()).isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(60));
		});
	}

	@Test
	void r55ListedLockIsTheOneThatIsFound() {
		granted(acquire("a", LEASE));
		StoredLock listed = mine().get(0);
		assertThat(inspection().findStored(key())).hasValueSatisfying((found) -> {
			assertThat(found.token()).isEqualTo(listed.token());
			assertThat(found.holder()).isEqualTo(listed.holder());
			assertThat(found.reason()).isEqualTo(listed.reason());
			assertThat(found.since()).isEqualTo(listed.since());
		});
		assertThat(inspection().findStored(key() + "/free")).isEmpty();
	}

	@Test
	void r55FreeLocksAreNotListed() {
		granted(acquire("a", LEASE));
		release("a");
		acquire(key() + "/short", "b", shortLease());
		await().untilAsserted(() -> assertThat(mine()).isEmpty());
		granted(acquire(key() + "/kept", "c", LEASE));
		refused(ask(key() + "/kept", "d", this.mailbox, true, null));
		store().release(key() + "/kept", "c");
		assertThat(mine()).as("reserved for a waiting process").isEmpty();
	}

	@Test
	void r55ListIsBoundedAndReportsThatItIsIncomplete() {
		for (int i = 0; i < 5; i++) {
			granted(acquire(key() + "/" + i, "a", LEASE));
		}
		// places that other tests have left reserved take room in the list
		await().untilAsserted(() -> {
			StoredLocks some = inspection().list(3);
			assertThat(some.locks()).hasSize(3).doesNotHaveDuplicates();
			assertThat(some.complete()).isFalse();
		});
		assertThat(mine()).hasSize(5);
	}

	/**
	 * A place that is reserved is no lock, but a store may have to look at it.
	 */
	@Test
	void r55ListIsNotCompleteIfItEndsInReservations() {
		require(Feature.QUEUE);
		assumeTrue(store().supportsMembers(), "The store supports no members");
		for (int i = 0; i < 3; i++) {
			String reserved = key() + "/" + i;
			granted(acquire(reserved, "+a", LEASE));
			refused(store()
				.acquire(new AcquireCommand(reserved, "+b", LEASE, "holder b", REASON, this.mailbox, true, null, 1)));
			assertThat(store().release(reserved, "+a")).isTrue();
		}
		granted(acquire(key() + "/held", "c", LEASE));
		StoredLocks some = inspection().list(2);
		assertThat(some.complete() && some.locks().isEmpty()).isFalse();
		assertThat(mine()).extracting(StoredLock::storageKey).containsExactly(key() + "/held");
	}

	@Test
	void r53KeysThatAreNotPlainAreListedAsTheyAreStored() {
		String hostile = key() + "/ü %20{b000}:lock:*?[a]'\"\\\n\u0000";
		String longKey = key() + "/" + "x".repeat(1000);
		granted(acquire(hostile, "a", LEASE));
		granted(acquire(longKey, "b", LEASE));
		assertThat(mine()).extracting(StoredLock::storageKey)
			.containsExactlyInAnyOrder(StorageKey.of(hostile), StorageKey.of(longKey));
		assertThat(inspection().findStored(StorageKey.of(hostile))).isPresent();
		assertThat(inspection().findStored(StorageKey.of(longKey))).isPresent();
	}

	@Test
	void r53ForcedReleaseOfAKeyThatIsNotPlainTakesItsStorageKey() {
		for (String key : List.of(key() + "/ü %20", key() + "/" + "x".repeat(1000))) {
			long token = granted(acquire(key, "a", LEASE));
			assertThat(inspection().forceRelease(StorageKey.of(key), token)).isTrue();
			granted(acquire(key, "b", LEASE));
		}
	}

	@Test
	void r55ForcedReleaseFreesTheLockOfTheToken() {
		long token = granted(acquire("a", LEASE));
		assertThat(inspection().forceRelease(key(), token)).isTrue();
		assertThat(inspection().findStored(key())).isEmpty();
		assertThat(renew("a", LEASE)).as("how the holder gets to know").isEqualTo(RenewResult.REFUSED);
		assertThat(granted(acquire("b", LEASE))).as("the fence is kept").isGreaterThan(token);
		assertThat(release("a")).isFalse();
		assertThat(renew("b", LEASE)).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void r55ForcedReleaseOfAnotherTokenDoesNothing() {
		long before = granted(acquire("a", LEASE));
		release("a");
		assertThat(inspection().forceRelease(key(), before)).as("free").isFalse();
		long token = granted(acquire("b", LEASE));
		assertThat(inspection().forceRelease(key(), before)).as("of the one before").isFalse();
		assertThat(inspection().forceRelease(key(), token + 1)).isFalse();
		assertThat(inspection().forceRelease(key() + "/other", token)).isFalse();
		assertThat(inspection().forceRelease(key(), 0)).isFalse();
		assertThat(inspection().forceRelease(key(), -1)).isFalse();
		assertThat(renew("b", LEASE)).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void r55ForcedReleaseNotifiesTheHeadOfTheQueue() {
		require(Feature.MAILBOX);
		Queue<String> told = new ConcurrentLinkedQueue<>();
		try (Mailbox open = store().openMailbox(this.mailbox, told::add)) {
			assertThat(open).isNotNull();
			long token = granted(acquire("a", LEASE));
			refused(ask("b", this.mailbox));
			assertThat(inspection().forceRelease(key(), token)).isTrue();
			refused(acquire("barging", LEASE));
			await().untilAsserted(() -> assertThat(told).contains(key()));
			assertThat(inspection().forceRelease(key(), token)).as("reserved for a waiting process").isFalse();
			assertThat(granted(ask("b", this.mailbox))).isGreaterThan(token);
		}
	}

	@Test
	void r55LeaseThatIsOverIsNotReleased() {
		long token = granted(acquire("a", shortLease()));
		await().until(() -> inspection().findStored(key()).isEmpty());
		assertThat(inspection().forceRelease(key(), token)).isFalse();
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
	}

	@Test
	void r19StoreReportsItsServer() {
		StoreFacts facts = inspection().diagnose();
		assertThat(facts.server()).isNotBlank();
		assertThat(facts.warnings()).doesNotContainNull().allSatisfy((warning) -> assertThat(warning).isNotBlank());
	}

}
