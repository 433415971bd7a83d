package io.dlock.store.test;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoredLock;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link io.dlock.store.LockStore#keep} keeps a lock after its release until it ends.
 */
abstract class KeepContract extends ContractPart {

	private final MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));

	private final MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(9));

	KeepContract(LockStoreContract contract) {
		super(contract, Feature.KEEP, Feature.INSPECTION);
	}

	@Test
	void r55LockThatIsKeptAfterItsReleaseIsShownAsSuchUntilItsEnd() {
		Duration rest = LEASE.dividedBy(2);
		long token = granted(acquire("a", LEASE));
		assertThat(findStored().kept()).isFalse();
		assertThat(store().keep(key(), "b", rest)).as("of another").isFalse();
		assertThat(store().keep(key(), "a", rest)).isTrue();
		assertThat(inspection().list(10_000).locks()).filteredOn((lock) -> lock.storageKey().equals(key()))
			.singleElement()
			.satisfies((lock) -> {
				assertThat(lock.kept()).isTrue();
				assertThat(lock.token()).isEqualTo(token);
				assertThat(lock.holder()).isEqualTo("holder a");
				assertThat(lock.age()).isBetween(Duration.ZERO, LEASE);
				Duration whole = Duration.between(lock.since(), lock.until());
				assertThat(whole).as("ends earlier").isBetween(rest.minusSeconds(1), LEASE.minusSeconds(1));
			});
		assertThat(findStored().kept()).isTrue();
		assertThat(store().keep(key(), "a", LEASE)).as("again").isFalse();
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		assertThat(release("a")).isFalse();
		Refused refused = refused(acquire("b", LEASE));
		assertThat(refused.lock()).as("holds it no more").isNull();
		assertThat(refused.remaining()).isBetween(Duration.ofMillis(1), rest);
		assertThat(inspection().forceRelease(key(), token)).isTrue();
		assertThat(granted(acquire("b", LEASE))).isGreaterThan(token);
	}

	@Test
	void r55LockThatIsKeptEndsByItself() {
		long token = granted(acquire("a", LEASE));
		assertThat(store().keep(key(), "a", Duration.ofMillis(50))).isTrue();
		await().until(() -> inspection().findStored(key()).isEmpty());
		assertThat(granted(acquire("b", LEASE))).isGreaterThan(token);
		assertThat(store().keep(key(), "a", LEASE)).isFalse();
		assertThat(findStored().kept()).isFalse();
		assertThat(findStored().age()).isBetween(Duration.ZERO, LEASE);
	}

	@Test
	void lockWhoseLeaseIsOverIsNotKept() {
		granted(acquire("a", shortLease()));
		await().until(() -> find().isEmpty());
		assertThat(store().keep(key(), "a", LEASE)).isFalse();
		granted(acquire("b", LEASE));
	}

	/**
	 * A request that the network holds back does not take the lock again.
	 */
	@Test
	void r23LateRequestOfTheOwnerOfAKeptLockIsRefused() {
		granted(acquire("a", LEASE));
		assertThat(store().keep(key(), "a", LEASE)).isTrue();
		refused(acquire("a", LEASE));
		assertThat(findStored().kept()).isTrue();
		assertThat(store().release(key(), LockStore.keptOwner("a"))).isTrue();
		granted(acquire("b", LEASE));
	}

	private StoredLock findStored() {
		return inspection().findStored(key()).orElseThrow();
	}

	@Test
	void keptLockGoesToTheHeadOfTheQueueAtItsEnd() {
		require(Feature.QUEUE);
		ask("a", null);
		refused(ask("b", this.first));
		assertThat(store().keep(key(), "a", LEASE)).isTrue();
		refused(ask("c", this.second));
		assertThat(store().release(key(), LockStore.keptOwner("a"))).isTrue();
		refused(ask("c", this.second));
		granted(ask("b", this.first));
		assertThat(store().release(key(), LockStore.keptOwner("a"))).as("another owner's").isFalse();
	}

}
