package io.dlock.store.test;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.RenewResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link io.dlock.store.LockStore#renew} prolongs the lease of its owner and changes
 * nothing else.
 */
abstract class RenewContract extends ContractPart {

	RenewContract(LockStoreContract contract) {
		super(contract);
	}

	@Test
	void renewalKeepsTheLockBeyondItsLease() {
		Duration lease = Duration.ofSeconds(2);
		untilInTime(lease, () -> {
			AtomicLong renewed = new AtomicLong(System.nanoTime());
			AtomicBoolean kept = new AtomicBoolean();
			acquire("a", lease);
			Instant end = Instant.now().plus(lease).plusMillis(500);
			await().until(() -> {
				long sent = System.nanoTime();
				kept.set(renew("a", lease) == RenewResult.RENEWED && acquire("b", LEASE) instanceof Refused);
				if (!kept.get()) {
					assertOver(lease, renewed.get());
				}
				renewed.set(sent);
				return !kept.get() || Instant.now().isAfter(end);
			});
			return kept.get();
		});
	}

	@Test
	void r6RenewalNeverShortens() {
		acquire("a", LEASE);
		assertThat(renew("a", Duration.ofMillis(10))).isEqualTo(RenewResult.RENEWED);
		assertThat(remaining()).isGreaterThan(LONG);
	}

	@Test
	void r16RenewalByAnotherOwnerChangesNothing() {
		acquire("a", LEASE);
		assertThat(renew("b", Duration.ofHours(1))).isEqualTo(RenewResult.REFUSED);
		assertThat(remaining()).isLessThanOrEqualTo(LEASE);
	}

	@Test
	void b3RenewalAfterReleaseIsRefusedAndRevivesNothing() {
		acquire("a", LEASE);
		release("a");
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		assertThat(find()).isEmpty();
		granted(acquire("b", LEASE));
	}

	@Test
	void renewalOfALeaseThatIsOverRevivesNothing() {
		acquire("a", shortLease());
		await().until(() -> find().isEmpty());
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		granted(acquire("b", LEASE));
	}

}
