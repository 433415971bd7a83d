package io.dlock.engine.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LossType;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.engine.TestContexts;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class LeaseTests {

	private static final Duration LENGTH = Duration.ofSeconds(10);

	private static final LeaseTerms TERMS = new LeaseTerms(LENGTH, true);

	private final TurnedClock clock = new TurnedClock();

	private final List<String> losses = new ArrayList<>();

	private Lease lease(MachineClock.Moment sent) {
		return new Lease(new Lease.Grant(TestContexts.of("key", TERMS), "owner", 1000, sent, null), this.clock,
				(hold, loss) -> this.losses.add(loss.reason()));
	}

	private Hold hold(MachineClock.Moment sent) {
		return lease(sent).holder();
	}

	@Test
	void r1ValidityCountsFromBeforeTheRequest() {
		MachineClock.Moment sent = this.clock.now();
		this.clock.pass(Duration.ofSeconds(4));
		Lease lease = lease(sent);
		assertThat(Duration.ofNanos(lease.validNanosLeft()))
			.isEqualTo(Duration.ofSeconds(6).minusMillis(100).minusMillis(2));
	}

	@Test
	void r1r4ValidityEndsDriftAndMarginBeforeTheLease() {
		Hold hold = hold(this.clock.now());
		this.clock.pass(Duration.ofMillis(9897));
		assertThat(hold.isValid()).isTrue();
		this.clock.pass(Duration.ofMillis(1));
		assertThat(hold.isValid()).isFalse();
	}

	@Test
	void r2LeaseNearItsEndIsStale() {
		MachineClock.Moment sent = this.clock.now();
		this.clock.pass(Duration.ofMillis(7890));
		assertThat(lease(sent).isStale()).isFalse();
		this.clock.pass(Duration.ofMillis(20));
		assertThat(lease(sent).isStale()).isTrue();
	}

	/**
	 * The check of another thread may come between the suspension and its discovery.
	 */
	@Test
	void leaseIsCheckedAtOnceAfterASuspension() {
		RenewalSchedule renewal = new RenewalSchedule(lease(this.clock.now()));
		renewal.checked(this.clock.nanoTime());
		assertThat(renewal.nanosUntilCheck(this.clock.nanoTime())).isPositive();
		this.clock.passOnTheWallOnly(Duration.ofSeconds(5));
		renewal.clockWasSet();
		assertThat(renewal.nanosUntilCheck(this.clock.nanoTime())).isNotPositive();
	}

	@Test
	void r3WallClockSetForwardLosesTheLockAndSetBackChangesNothing() {
		Hold hold = hold(this.clock.now());
		this.clock.stepWall(Duration.ofHours(-2));
		this.clock.pass(Duration.ofSeconds(9));
		assertThat(hold.isValid()).isTrue();
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(hold.isValid()).isFalse();
		Hold other = hold(this.clock.now());
		this.clock.stepWall(Duration.ofHours(1));
		assertThat(other.isValid()).isFalse();
	}

	@Test
	void r3SuspensionOfTheMachineIsNoticed() {
		Hold hold = hold(this.clock.now());
		this.clock.passOnTheWallOnly(Duration.ofSeconds(11));
		assertThat(hold.isValid()).isFalse();
	}

	@Test
	void r5RenewalCountsFromItsOwnRequest() {
		Lease lease = lease(this.clock.now());
		this.clock.pass(Duration.ofSeconds(3));
		MachineClock.Moment renewalSent = this.clock.now();
		this.clock.pass(Duration.ofSeconds(5));
		lease.renewed(renewalSent);
		assertThat(Duration.ofNanos(lease.validNanosLeft())).isEqualTo(Duration.ofMillis(4898));
	}

	@Test
	void r7ValidityIsALocalCheckOfTheDeadline() {
		Hold hold = hold(this.clock.now());
		this.clock.pass(Duration.ofMillis(9898));
		assertThat(hold.isValid()).as("whatever the renewal is doing").isFalse();
		assertThat(hold.isValid()).isFalse();
	}

	@Test
	void r8LossIsFinalEvenIfALateRenewalSucceeds() {
		Hold hold = hold(this.clock.now());
		this.clock.pass(Duration.ofSeconds(11));
		hold.lease().renewed(this.clock.now());
		assertThat(hold.isValid()).isFalse();
		assertThat(hold.isLost()).isTrue();
		assertThat(this.losses).hasSize(1);
		assertThat(hold.lose(new Loss(LossType.REFUSED, "again"))).isFalse();
		assertThat(hold.beginRelease()).isFalse();
	}

	@Test
	void r8FirstCheckAfterTheDeadlineFindsTheLoss() {
		Hold hold = hold(this.clock.now());
		this.clock.pass(Duration.ofSeconds(11));
		assertThat(this.losses).isEmpty();
		assertThat(hold.isLost()).isTrue();
		assertThat(this.losses).singleElement().asString().contains("10000 ms");
	}

	@Test
	void r27RefusedRenewalDuringReleaseIsNoLoss() {
		Hold hold = hold(this.clock.now());
		assertThat(hold.beginRelease()).isTrue();
		assertThat(hold.lose(new Loss(LossType.REFUSED, "the store refused"))).isFalse();
		assertThat(hold.isLost()).isFalse();
		assertThat(hold.isValid()).isFalse();
		assertThat(this.losses).isEmpty();
	}

	@Test
	void nestedHandlesAreCountedAndLostLeasesAreNotShared() {
		Hold hold = hold(this.clock.now());
		assertThat(hold.retain()).isTrue();
		assertThat(hold.drop()).isFalse();
		assertThat(hold.drop()).isTrue();
		assertThat(hold.retain()).isFalse();
		Hold lost = hold(this.clock.now());
		this.clock.pass(LENGTH);
		assertThat(lost.retain()).isFalse();
	}

	@Test
	void publicTokenLeavesRoomForHandOffs() {
		assertThat(hold(this.clock.now()).token()).isEqualTo(1000 * 1024);
	}

	/**
	 * The check of the timer comes after a caller has found the loss, and before that
	 * caller gets to the listeners.
	 */
	@Test
	void r8ListenersAreToldByTheThreadThatFindsThem() {
		EngineThreads threads = new EngineThreads();
		LeaseRenewer renewer = new LeaseRenewer(new MemoryLockStore(), this.clock, threads, new LockEvents(threads));
		Lease lease = new Lease(new Lease.Grant(TestContexts.of("key", TERMS), "owner", 1000, this.clock.now(), null),
				this.clock, (hold, loss) -> {
					renewer.lose(hold.lease(), loss);
					renewer.removeLost(hold).forEach(renewer::tell);
				});
		renewer.add(lease);
		List<LockHandle> told = new CopyOnWriteArrayList<>();
		HoldHandle handle = mock();
		assertThat(renewer.addLossListener(lease, handle, told::add)).isTrue();
		this.clock.pass(LENGTH);
		assertThat(lease.holder().isValid()).isFalse();
		Awaitility.await().until(() -> !told.isEmpty());
		assertThat(told).containsExactly(handle);
		threads.close();
	}

	/**
	 * The wall clock is set forward, and the timer notices that, between a grant and the
	 * moment from which the lease is watched. An alarm for other leases is set already.
	 */
	@Test
	void r3LeaseThatIsOverBeforeItIsWatchedIsLostAtOnce() {
		EngineThreads threads = new EngineThreads();
		LeaseRenewer renewer = new LeaseRenewer(new MemoryLockStore(), this.clock, threads, new LockEvents(threads));
		LeaseTerms terms = new LeaseTerms(Duration.ofHours(1), true);
		List<Lease> leases = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			leases.add(new Lease(new Lease.Grant(TestContexts.of("key", terms), "owner", 1000, this.clock.now(), null),
					this.clock, (hold, loss) -> {
					}));
		}
		renewer.add(leases.get(0));
		this.clock.stepWall(Duration.ofHours(1));
		LeaseInternals.checkClocks(renewer);
		renewer.add(leases.get(1));
		Awaitility.await().until(() -> renewer.size() == 0);
		threads.close();
	}

	/**
	 * The lease ends between the moment in which a caller finds its schedule and that in
	 * which it adds the listener.
	 */
	@Test
	void r8ListenerThatComesAfterTheEndOfTheScheduleIsRefused() {
		RenewalSchedule schedule = new RenewalSchedule(lease(this.clock.now()));
		HoldHandle handle = mock();
		assertThat(schedule.addLossListener(handle, LockHandle::key)).isTrue();
		assertThat(schedule.end()).hasSize(1);
		assertThat(schedule.addLossListener(handle, LockHandle::key)).isFalse();
		assertThat(schedule.end()).as("listeners that are never told").isEmpty();
	}

}
