package io.dlock.engine.queue;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.TestContexts;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
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
		QueuedRequest first = join(1);
		QueuedRequest admitted = join(1);
		assertThat(this.members.pass(released())).isTrue();
		assertThat(this.queues.waiting()).containsExactly(first);
		this.clock.pass(TOO_LATE);
		assertThat(this.members.claim(admitted)).isNull();
		assertThat(admitted.isFirst()).isFalse();
		assertThat(this.queues.waiting()).containsExactly(first, admitted);
	}

	@Test
	void firstRequestThatClaimsAPermitTooLateKeepsItsTurn() {
		QueuedRequest first = join(1);
		assertThat(this.members.pass(released())).isTrue();
		this.clock.pass(TOO_LATE);
		assertThat(this.members.claim(first)).isNull();
		assertThat(first.isFirst()).isTrue();
		assertThat(this.queues.waiting()).containsExactly(first);
	}

	@Test
	void requestWithAPermitOnOfferIsNotOvertaken() {
		QueuedRequest first = join(1);
		this.queues.answer(first, QueueAnswer.refused(null, first.context()));
		assertThat(this.members.pass(released())).isTrue();
		assertThat(join(2).isFirst()).isFalse();
		assertThat(this.members.claim(first)).isNotNull();
	}

	/**
	 * The request is overtaken while it finds its first permit too late, and is on offer
	 * the second one before it goes back to its queue.
	 */
	@Test
	void permitThatIsPassedToAnOvertakenRequestDoesNotWait() {
		QueuedRequest overtaken = join(1);
		assertThat(this.members.pass(released())).isTrue();
		this.clock.pass(TOO_LATE);
		this.clock.onReading = () -> {
			this.clock.onReading = () -> {
			};
			this.queues.answer(overtaken, QueueAnswer.refused(null, overtaken.context()));
			assertThat(join(2).isFirst()).isTrue();
			assertThat(this.members.pass(released())).isTrue();
		};
		assertThat(this.members.claim(overtaken)).isNull();
		assertThat(overtaken.isFirst()).as("has its turn").isTrue();
		assertThat(this.members.claim(overtaken)).isNotNull();
	}

	@Test
	void refusalOfAnOvertakenRequestIsNoneForHigherLimits() {
		QueuedRequest overtaken = join(1);
		LocalQueue queue = this.queues.queueOfFirst(overtaken);
		QueueAnswer refused = QueueAnswer.refused(null, overtaken.context());
		this.queues.answer(overtaken, refused);
		QueuedRequest overtaker = join(3);
		assertThat(overtaker.isFirst()).isTrue();
		assertThat(this.queues.waiting()).as("each has one place").containsExactly(overtaker, overtaken);
		queue.note(refused);
		assertThat(join(3).isFirst()).as("overtakes one of its own limit").isFalse();
		assertThat(this.queues.latestAnswer(join(2, Duration.ZERO))).isNull();
		assertThat(this.queues.latestAnswer(join(1, Duration.ZERO))).isEqualTo(refused);
	}

	@Test
	void overtakenRequestStaysBeforeThoseThatCameAfterIt() {
		QueuedRequest overtaken = join(1);
		QueuedRequest later = join(1);
		this.queues.answer(overtaken, QueueAnswer.refused(null, overtaken.context()));
		QueuedRequest overtaker = join(3);
		assertThat(this.queues.waiting()).containsExactly(overtaker, overtaken, later);
	}

	@Test
	void permitIsNotPassedToARequestWhoseWaitTimeIsOver() {
		Hold permit = released();
		Duration wait = LEASE.dividedBy(10);
		join(1, wait);
		QueuedRequest expired = join(1, wait);
		QueuedRequest waiting = join(1);
		this.clock.pass(wait);
		assertThat(this.members.pass(permit)).isTrue();
		assertThat(waiting.hasOffer()).isTrue();
		assertThat(expired.hasOffer()).isFalse();
	}

	@Test
	void permitIsNotPassedToAFirstRequestWhoseWaitTimeIsOver() {
		join(1, Duration.ZERO);
		assertThat(this.members.pass(released())).isFalse();
	}

	/**
	 * It leaves its queue a moment later.
	 */
	@Test
	void permitIsNotPassedToARequestThatHasOne() {
		join(1).granted();
		assertThat(this.members.pass(released())).isFalse();
	}

	@Test
	void permitIsNotPassedToARequestThatHasEnded() {
		join(1).end();
		assertThat(this.members.pass(released())).isFalse();
	}

	/**
	 * The first one would be kept until its lease is over.
	 */
	@Test
	void secondPermitIsNotPassedToARequestThatIsOfferedOne() {
		join(1);
		assertThat(this.members.pass(released())).isTrue();
		assertThat(this.members.pass(released())).isFalse();
	}

	@Test
	void triesTakeTurnsWithRequestsThatWait() {
		QueuedRequest first = join(9);
		QueuedRequest waiting = join(9);
		List<QueuedRequest> tries = List.of(join(9, Duration.ZERO), join(9, Duration.ZERO));
		grant(first);
		assertThat(tries).extracting(QueuedRequest::isFirst).containsExactly(true, false);
		grant(tries.get(0));
		assertThat(waiting.isFirst()).isTrue();
		grant(waiting);
		assertThat(tries.get(1).isFirst()).isTrue();
	}

	/**
	 * A try for the exclusive lock would be refused as long as the reader holds it.
	 */
	@Test
	void triesDoNotGoBeforeWritersBehindAReader() {
		QueuedRequest first = join(AcquireCommand.UNLIMITED);
		QueuedRequest waiting = join(1);
		QueuedRequest tried = join(1, Duration.ZERO);
		grant(first);
		assertThat(waiting.isFirst()).isTrue();
		assertThat(tried.isFirst()).isFalse();
	}

	private void grant(QueuedRequest queued) {
		this.members.granted(queued, new Lease(grant(queued.context()), this.clock, (hold, loss) -> {
		}).holder());
	}

	private Hold released() {
		Hold permit = new Lease(grant(context(1, LockRequest.FOREVER)), this.clock, (hold, loss) -> {
		}).holder();
		assertThat(permit.beginRelease()).isTrue();
		return permit;
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
		this.members.granted(first, lease.holder());
		assertThat(tried.hasOffer()).isTrue();
		assertThat(lease.holds()).hasSize(2);
		assertThat(this.queues.isEmpty()).as("no place is left").isTrue();
	}

	@Test
	void tryThatCannotJoinALeaseAsksTheStore() {
		QueuedRequest first = join(AcquireCommand.UNLIMITED);
		QueuedRequest tried = this.queues.join(longer(Duration.ZERO), () -> {
		});
		share(first);
		assertThat(tried.hasOffer()).isFalse();
		assertThat(tried.isFirst()).isTrue();
	}

	@Test
	void tryThatCannotJoinALeaseIsToldTheAnswerOfTheNextRequest() {
		QueuedRequest first = join(AcquireCommand.UNLIMITED);
		QueuedRequest next = this.queues.join(longer(LockRequest.FOREVER), () -> {
		});
		QueuedRequest tried = this.queues.join(longer(Duration.ZERO), () -> {
		});
		share(first);
		assertThat(next.isFirst()).isTrue();
		QueueAnswer refused = QueueAnswer.refused(null, next.context());
		this.queues.answer(next, refused);
		assertThat(tried.answer()).isEqualTo(refused);
	}

	private AcquireContext longer(Duration waitTime) {
		return new AcquireContext(LockRequest.builder("key").lease(LEASE.multipliedBy(2)).build(),
				Deadline.after(this.clock, waitTime), LockSettings.defaults(), AcquireCommand.UNLIMITED);
	}

	private void share(QueuedRequest queued) {
		this.members.granted(queued, new SharedLease(grant(queued.context()), this.clock, (hold, loss) -> {
		}).holder());
	}

	@Test
	void requestThatLeavesGivesBackTheHoldThatItWasAdmittedTo() {
		QueuedRequest first = join(AcquireCommand.UNLIMITED);
		QueuedRequest admitted = join(AcquireCommand.UNLIMITED);
		SharedLease lease = new SharedLease(grant(first.context()), this.clock, (hold, loss) -> {
		});
		this.members.granted(first, lease.holder());
		this.members.leave(admitted, false);
		assertThat(lease.holds()).containsExactly(lease.holder());
	}

	@Test
	void requestThatClaimsASharedLockTooLateWaitsAgain() {
		QueuedRequest first = join(AcquireCommand.UNLIMITED);
		QueuedRequest admitted = join(AcquireCommand.UNLIMITED);
		SharedLease lease = new SharedLease(grant(first.context()), this.clock, (hold, loss) -> {
		});
		this.members.granted(first, lease.holder());
		assertThat(this.queues.waiting()).isEmpty();
		assertThat(lease.holds()).hasSize(2);
		this.clock.pass(TOO_LATE);
		assertThat(lease.isOver()).isFalse();
		assertThat(this.members.claim(admitted)).isNull();
		assertThat(lease.holds()).containsExactly(lease.holder());
		assertThat(this.queues.waiting()).containsExactly(admitted);
	}

}
