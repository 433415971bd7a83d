package io.dlock.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.SharedLease;
import io.dlock.engine.lease.StoreReleaser;
import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that are admitted to a permit or a shared lease and claim it too late.
 */
class MemberQueuesTests {

	private static final Duration LEASE = Duration.ofSeconds(10);

	/** A lease that is renewed is not over by then, but hardly anything is left. */
	private static final Duration TOO_LATE = LEASE.multipliedBy(9).dividedBy(10);

	private final TurnedClock clock = new TurnedClock();

	private final StoreReleaser releaser = TestContexts.releaser();

	private final LocalQueues queues = new LocalQueues(LEASE.toNanos(), this.releaser);

	private final MemberQueues members = new MemberQueues(this.queues, this.releaser, LEASE.toNanos());

	private AcquireContext context(int limit, Duration waitTime) {
		return new AcquireContext(LockRequest.builder("key").lease(LEASE).build(), Deadline.after(this.clock, waitTime),
				LockSettings.defaults(), limit);
	}

	private QueuedRequest join(int limit) {
		return join(limit, LockRequest.FOREVER);
	}

	private QueuedRequest join(int limit, Duration waitTime) {
		return this.queues.join(context(limit, waitTime), () -> {
		});
	}

	private Lease.Grant grant(AcquireContext context) {
		return new Lease.Grant(context, "owner", 1, this.clock.now(), null);
	}

	@Test
	void requestThatClaimsAPermitTooLateWaitsAgain() {
		Lease permit = new Lease(grant(context(1, LockRequest.FOREVER)), this.clock, (hold, loss) -> {
		});
		QueuedRequest first = join(1);
		QueuedRequest admitted = join(1);
		assertThat(permit.holder().beginRelease()).isTrue();
		assertThat(this.members.pass(permit.holder())).isTrue();
		assertThat(this.queues.waiting()).containsExactly(first);
		this.clock.pass(TOO_LATE);
		assertThat(this.members.claim(admitted)).isNull();
		assertThat(admitted.isFirst()).isFalse();
		assertThat(this.queues.waiting()).containsExactly(first, admitted);
	}

	@Test
	void permitIsNotPassedToARequestWhoseWaitTimeIsOver() {
		Lease permit = new Lease(grant(context(1, LockRequest.FOREVER)), this.clock, (hold, loss) -> {
		});
		Duration wait = LEASE.dividedBy(10);
		join(1, wait);
		QueuedRequest expired = join(1, wait);
		QueuedRequest waiting = join(1);
		this.clock.pass(wait);
		assertThat(permit.holder().beginRelease()).isTrue();
		assertThat(this.members.pass(permit.holder())).isTrue();
		assertThat(waiting.hasOffer()).isTrue();
		assertThat(expired.hasOffer()).isFalse();
	}

	@Test
	void permitIsNotPassedToAFirstRequestWhoseWaitTimeIsOver() {
		Lease permit = new Lease(grant(context(1, LockRequest.FOREVER)), this.clock, (hold, loss) -> {
		});
		join(1, Duration.ZERO);
		assertThat(permit.holder().beginRelease()).isTrue();
		assertThat(this.members.pass(permit.holder())).isFalse();
	}

	/**
	 * A request behind it that waits for an exclusive lock would be asked about first.
	 */
	@Test
	void triesOfReadersJoinTheLeaseThatTheyWatchFor() {
		QueuedRequest first = join(AcquireCommand.UNLIMITED);
		QueuedRequest tried = join(AcquireCommand.UNLIMITED, Duration.ZERO);
		SharedLease lease = new SharedLease(grant(first.context()), this.clock, (hold, loss) -> {
		});
		this.members.granted(first, lease);
		assertThat(tried.hasOffer()).isTrue();
		assertThat(lease.holds()).hasSize(2);
	}

	@Test
	void requestThatLeavesGivesBackTheHoldThatItWasAdmittedTo() {
		QueuedRequest first = join(AcquireCommand.UNLIMITED);
		QueuedRequest admitted = join(AcquireCommand.UNLIMITED);
		SharedLease lease = new SharedLease(grant(first.context()), this.clock, (hold, loss) -> {
		});
		this.members.granted(first, lease);
		this.members.leave(admitted);
		assertThat(lease.holds()).containsExactly(lease.holder());
	}

	@Test
	void requestThatClaimsASharedLockTooLateWaitsAgain() {
		QueuedRequest first = join(AcquireCommand.UNLIMITED);
		QueuedRequest admitted = join(AcquireCommand.UNLIMITED);
		SharedLease lease = new SharedLease(grant(first.context()), this.clock, (hold, loss) -> {
		});
		this.members.granted(first, lease);
		assertThat(this.queues.waiting()).isEmpty();
		assertThat(lease.holds()).hasSize(2);
		this.clock.pass(TOO_LATE);
		assertThat(lease.isOver()).isFalse();
		assertThat(this.members.claim(admitted)).isNull();
		assertThat(lease.holds()).containsExactly(lease.holder());
		assertThat(this.queues.waiting()).containsExactly(admitted);
	}

}
