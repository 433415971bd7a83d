package io.dlock.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The operations for operators, for stores that have them.
 */
public abstract class InspectionContractTests extends WaitingContractTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private final MailboxAddress mailbox = MailboxAddress.create(Duration.ofSeconds(9));

	private StoreInspection inspection() {
		StoreInspection inspection = store().inspection();
		assertThat(inspection).isNotNull();
		return inspection;
	}

	private long take(String key, String owner) {
		return granted(store().acquire(new AcquireCommand(key, owner, LEASE, "holder " + owner, "a reason")));
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
		long first = take(key(), "a");
		long second = take(key() + "/2", "b");
		List<StoredLock> locks = mine();
		assertThat(locks).extracting(StoredLock::storageKey).containsExactlyInAnyOrder(key(), key() + "/2");
		assertThat(locks).extracting(StoredLock::holder).containsExactlyInAnyOrder("holder a", "holder b");
		assertThat(locks).extracting(StoredLock::reason).containsOnly("a reason");
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
		take(key(), "a");
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
		take(key(), "a");
		store().release(key(), "a");
		store().acquire(new AcquireCommand(key() + "/short", "b", Duration.ofMillis(50), "holder", ""));
		Awaitility.await().untilAsserted(() -> assertThat(mine()).isEmpty());
		take(key() + "/kept", "c");
		assertThat(queue(key() + "/kept", "d")).isInstanceOf(Refused.class);
		store().release(key() + "/kept", "c");
		assertThat(mine()).as("reserved for a waiting process").isEmpty();
	}

	@Test
	void r55LockThatIsKeptAfterItsReleaseIsShownAsSuchUntilItsEnd() {
		Duration rest = LEASE.dividedBy(2);
		long token = take(key(), "a");
		assertThat(mine()).extracting(StoredLock::kept).containsExactly(false);
		assertThat(store().keep(key(), "b", rest)).as("of another").isFalse();
		assertThat(store().keep(key(), "a", rest)).isTrue();
		assertThat(mine()).singleElement().satisfies((lock) -> {
			assertThat(lock.kept()).isTrue();
			assertThat(lock.token()).isEqualTo(token);
			assertThat(lock.holder()).isEqualTo("holder a");
			assertThat(lock.age()).isBetween(Duration.ZERO, LEASE);
			Duration whole = Duration.between(lock.since(), lock.until());
			assertThat(whole).as("ends earlier").isBetween(rest.minusMillis(1), LEASE.minusSeconds(1));
		});
		assertThat(inspection().findStored(key())).hasValueSatisfying((lock) -> assertThat(lock.kept()).isTrue());
		assertThat(store().keep(key(), "a", LEASE)).as("again").isFalse();
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		assertThat(store().release(key(), "a")).isFalse();
		assertThat(store().acquire(new AcquireCommand(key(), "b", LEASE, "holder", "")))
			.isInstanceOfSatisfying(Refused.class, (refused) -> {
				assertThat(refused.holder()).as("holds it no more").isNull();
				assertThat(refused.remaining()).isBetween(Duration.ofMillis(1), rest);
			});
		assertThat(inspection().forceRelease(key(), token)).isTrue();
		assertThat(take(key(), "b")).isGreaterThan(token);
	}

	@Test
	void r55LockThatIsKeptEndsByItself() {
		long token = take(key(), "a");
		assertThat(store().keep(key(), "a", Duration.ofMillis(50))).isTrue();
		Awaitility.await().until(() -> inspection().findStored(key()).isEmpty());
		assertThat(take(key(), "b")).isGreaterThan(token);
		assertThat(store().keep(key(), "a", LEASE)).isFalse();
		assertThat(inspection().findStored(key())).hasValueSatisfying((lock) -> {
			assertThat(lock.kept()).isFalse();
			assertThat(lock.age()).isBetween(Duration.ZERO, LEASE);
		});
	}

	@Test
	void r55ListIsBoundedAndReportsThatItIsIncomplete() {
		for (int i = 0; i < 5; i++) {
			take(key() + "/" + i, "a");
		}
		StoredLocks some = inspection().list(3);
		assertThat(some.locks()).hasSize(3).doesNotHaveDuplicates();
		assertThat(some.complete()).isFalse();
		assertThat(mine()).hasSize(5);
	}

	@Test
	void r53KeysThatAreNotPlainAreListedAsTheyAreStored() {
		String hostile = key() + "/ü %20{b000}:lock:*?[a]'\"\\\n\u0000";
		String longKey = key() + "/" + "x".repeat(1000);
		take(hostile, "a");
		take(longKey, "b");
		assertThat(mine()).extracting(StoredLock::storageKey)
			.containsExactlyInAnyOrder(StorageKey.of(hostile), StorageKey.of(longKey));
		assertThat(inspection().findStored(StorageKey.of(hostile))).isPresent();
		assertThat(inspection().findStored(StorageKey.of(longKey))).isPresent();
	}

	@Test
	void r55ForcedReleaseFreesTheLockOfTheToken() {
		long token = take(key(), "a");
		assertThat(inspection().forceRelease(key(), token)).isTrue();
		assertThat(inspection().findStored(key())).isEmpty();
		assertThat(renew("a", LEASE)).as("how the holder gets to know").isEqualTo(RenewResult.REFUSED);
		assertThat(take(key(), "b")).as("the fence is kept").isGreaterThan(token);
		assertThat(store().release(key(), "a")).isFalse();
		assertThat(renew("b", LEASE)).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void r55ForcedReleaseOfAnotherTokenDoesNothing() {
		long before = take(key(), "a");
		store().release(key(), "a");
		assertThat(inspection().forceRelease(key(), before)).as("free").isFalse();
		long token = take(key(), "b");
		assertThat(inspection().forceRelease(key(), before)).as("of the one before").isFalse();
		assertThat(inspection().forceRelease(key(), token + 1)).isFalse();
		assertThat(inspection().forceRelease(key() + "/other", token)).isFalse();
		assertThat(inspection().forceRelease(key(), 0)).isFalse();
		assertThat(inspection().forceRelease(key(), -1)).isFalse();
		assertThat(renew("b", LEASE)).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void r55ForcedReleaseNotifiesTheHeadOfTheQueue() {
		Queue<String> told = new ConcurrentLinkedQueue<>();
		Mailbox open = store().openMailbox(this.mailbox, told::add);
		try {
			long token = take(key(), "a");
			assertThat(queue(key(), "b")).isInstanceOf(Refused.class);
			assertThat(inspection().forceRelease(key(), token)).isTrue();
			assertThat(store().acquire(new AcquireCommand(key(), "barging", LEASE, "holder", "")))
				.isInstanceOf(Refused.class);
			Awaitility.await().untilAsserted(() -> assertThat(told).contains(key()));
			assertThat(inspection().forceRelease(key(), token)).as("reserved for a waiting process").isFalse();
			assertThat(granted(queue(key(), "b"))).isGreaterThan(token);
		}
		finally {
			if (open != null) {
				open.close();
			}
		}
	}

	@Test
	void r55LeaseThatIsOverIsNotReleased() {
		long token = granted(store().acquire(new AcquireCommand(key(), "a", Duration.ofMillis(50), "holder", "")));
		Awaitility.await().until(() -> inspection().findStored(key()).isEmpty());
		assertThat(inspection().forceRelease(key(), token)).isFalse();
		assertThat(store().renew(List.of(new RenewCommand(key(), "a", LEASE)))).containsExactly(RenewResult.REFUSED);
	}

	@Test
	void r19StoreReportsItsServer() {
		StoreFacts facts = inspection().diagnose();
		assertThat(facts.server()).isNotBlank();
		assertThat(facts.warnings()).doesNotContainNull().allSatisfy((warning) -> assertThat(warning).isNotBlank());
	}

	private AcquireResult queue(String key, String owner) {
		return store()
			.acquire(new AcquireCommand(key, owner, LEASE, "holder " + owner, "a reason", this.mailbox, true, null));
	}

}
