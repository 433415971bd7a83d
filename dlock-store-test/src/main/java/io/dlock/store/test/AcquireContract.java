package io.dlock.store.test;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoredLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link io.dlock.store.LockStore#acquire} grants a key to one owner at a time, and
 * {@link io.dlock.store.LockStore#find} tells which.
 */
abstract class AcquireContract extends ContractPart {

	AcquireContract(LockStoreContract contract) {
		super(contract);
	}

	@Test
	void freeKeyIsGranted() {
		granted(acquire("a", LEASE));
	}

	@Test
	void r40HeldKeyIsRefusedAndTheAnswerTellsTheHolder() {
		long token = granted(acquire("a", LEASE));
		Refused refused = refused(acquire("b", LEASE));
		assertThat(refused.remaining()).isBetween(LONG, LEASE);
		StoredLock found = store().find(key()).orElseThrow();
		StoredLock told = Objects.requireNonNull(refused.lock());
		assertThat(told).usingRecursiveComparison().ignoringFields("age", "until").isEqualTo(found);
		assertThat(told.holder()).isEqualTo("holder a");
		assertThat(told.token()).isEqualTo(token);
		// that of another node, where several vote
		assertThat(told.age()).isBetween(Duration.ZERO, found.age().plus(LEASE.minus(LONG)));
		assertThat(told.until()).isBetween(told.since().plus(LONG), found.until().plus(LEASE));
	}

	@Test
	void r23b9AcquireIsIdempotentByOwnerWithTheSameToken() {
		long token = granted(acquire("a", LEASE));
		Instant since = store().find(key()).orElseThrow().since();
		assertThat(granted(acquire("a", LEASE))).isEqualTo(token);
		assertThat(store().find(key()).orElseThrow().since()).as("the hold does not begin anew").isEqualTo(since);
		assertThat(release("a")).isTrue();
		assertThat(acquire("b", LEASE)).as("one release undoes a replayed acquire (B9)").isInstanceOf(Granted.class);
	}

	@Test
	void r23RepeatedAcquireStartsTheLeaseAnew() {
		acquire("a", shortLease());
		acquire("a", LEASE);
		assertThat(remaining()).isGreaterThan(LONG);
	}

	/**
	 * A request whose answer was lost may be repeated, or arrive, when the lease was
	 * renewed.
	 */
	@Test
	void r6RepeatedAcquireNeverShortensTheLease() {
		long token = granted(acquire("a", LONG));
		renew("a", LEASE);
		assertThat(granted(acquire("a", LONG))).isEqualTo(token);
		assertThat(remaining()).isGreaterThan(LONG);
	}

	@Test
	void leaseOfANewOwnerIsItsOwnHoweverLongTheOneBeforeWas() {
		acquire("a", Duration.ofHours(1));
		granted(ask("b", null, "a"));
		assertThat(remaining()).isBetween(LONG, LEASE);
		release("b");
		acquire("d", Duration.ofHours(1));
		release("d");
		acquire("e", LEASE);
		assertThat(remaining()).isBetween(LONG, LEASE);
	}

	@Test
	void b11b12b13LeaseThatIsOverIsGrantedToTheNextAndItsHolderChangesNothing() {
		long first = granted(acquire("a", shortLease()));
		long second = await().until(() -> {
			return (acquire("b", LEASE) instanceof Granted granted) ? granted.token() : 0L;
		}, (token) -> token > 0);
		assertThat(second).isGreaterThan(first);
		assertThat(release("a")).as("B11, B12: a stale holder frees nothing").isFalse();
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		refused(acquire("c", LEASE));
	}

	@Test
	void ownerWhoseLeaseIsOverIsGrantedTheKeyLikeAnyOther() {
		long token = granted(acquire("a", shortLease()));
		await().until(() -> find().isEmpty());
		assertThat(granted(acquire("a", LEASE))).isGreaterThanOrEqualTo(token);
		refused(acquire("b", LEASE));
		assertThat(release("a")).isTrue();
	}

	@Test
	void findReturnsHolderReasonAndTimes() {
		assertThat(find()).isEmpty();
		long token = granted(acquire("a", LEASE));
		assertThat(find()).hasValueSatisfying((lock) -> {
			assertThat(lock.holder()).isEqualTo("holder a");
			assertThat(lock.reason()).isEqualTo(REASON);
			assertThat(lock.token()).isEqualTo(token);
			assertThat(Duration.between(lock.since(), lock.until())).isBetween(LEASE.minusSeconds(1),
					LEASE.plusSeconds(1));
			assertThat(lock.storageKey()).isEqualTo(StorageKey.of(key()));
		});
		release("a");
		assertThat(find()).isEmpty();
	}

	@Test
	void ageIsTheTimeSinceTheLockWasTaken() {
		long asked = System.nanoTime();
		granted(acquire("a", Duration.ofMinutes(5)));
		Duration clocks = Duration.ofMillis(100);
		Awaitility.await()
			.untilAsserted(() -> assertThat(find().orElseThrow().age()).isGreaterThan(clocks)
				.isLessThan(clocks.plusNanos(System.nanoTime() - asked)));
	}

}
