package io.dlock.engine.lease;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.dlock.LockRequest;
import io.dlock.LossType;
import io.dlock.engine.TestContexts;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.lease.Hold.Loss;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lease that is on its way out, and that a call has found before.
 */
class SharedLeaseTests {

	private final TurnedClock clock = new TurnedClock();

	private final AcquireContext context = TestContexts.of("key", new LeaseTerms(Duration.ofSeconds(10), true));

	private final SharedLease lease = lease("+owner", 1000);

	private SharedLease lease(String owner, long token) {
		return new SharedLease(new Lease.Grant(this.context, owner, token, this.clock.now(), null), this.clock,
				(hold, loss) -> {
				});
	}

	@Test
	void leaseIsNotJoinedAfterItsLastReader() {
		Hold second = this.lease.join(this.context);
		assertThat(second).isNotNull();
		assertThat(this.lease.leave(this.lease.holder())).isFalse();
		assertThat(this.lease.leave(second)).isTrue();
		assertThat(this.lease.join(this.context)).isNull();
	}

	@Test
	void leaseIsForgottenAfterItsLastReader() {
		SharedLeases leases = new SharedLeases(0);
		leases.open(this.lease, this.context);
		assertThat(leases.size()).isOne();
		this.lease.leave(this.lease.holder());
		assertThat(leases.size()).isZero();
	}

	/**
	 * A lease that is not renewed is followed by another while it has readers.
	 */
	@Test
	void nextLeaseIsFoundAfterTheEndOfTheOneBefore() {
		SharedLeases leases = new SharedLeases(0);
		SharedLease next = lease("+next", 1001);
		leases.open(this.lease, this.context);
		leases.open(next, this.context);
		this.lease.leave(this.lease.holder());
		assertThat(leases.find(this.context)).isSameAs(next);
	}

	@Test
	void alarmOfTheLeaseIsThatOfTheReaderWhoseMaxHoldEndsFirst() {
		Hold second = this.lease.join(this.context);
		assertThat(second).isNotNull();
		limit(second, 5);
		assertThat(this.lease.nanosUntilEnd()).isEqualTo(Duration.ofSeconds(5).toNanos());
		limit(this.lease.holder(), 4);
		assertThat(this.lease.nanosUntilEnd()).isEqualTo(Duration.ofSeconds(4).toNanos());
	}

	private void limit(Hold reader, long seconds) {
		LockRequest limited = LockRequest.builder("key").maxHold(Duration.ofSeconds(seconds)).build();
		reader.details(new HoldDetails(limited, limited.maxHold(), this.clock));
	}

	/**
	 * The {@code maxHold} of the last reader is over, and the lease is not renewed any
	 * more.
	 */
	@Test
	void leaseIsNeitherJoinedNorFoundAfterTheLossOfItsLastReader() {
		SharedLeases leases = new SharedLeases(0);
		leases.open(this.lease, this.context);
		Hold second = this.lease.join(this.context);
		assertThat(second).isNotNull();
		this.lease.holder().lose(new Loss(LossType.MAX_HOLD, "it was held for too long"));
		assertThat(this.lease.endsWithLoss()).isFalse();
		second.lose(new Loss(LossType.MAX_HOLD, "it was held for too long"));
		assertThat(this.lease.endsWithLoss()).isTrue();
		assertThat(this.lease.join(this.context)).isNull();
		assertThat(leases.size()).isZero();
	}

	@Test
	void leaseIsNotJoinedAfterItsLoss() {
		this.lease.lose(new Loss(LossType.SHUTDOWN, "the application shut down"));
		assertThat(this.lease.join(this.context)).isNull();
	}

}
