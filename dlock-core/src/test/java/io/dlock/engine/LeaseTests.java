package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LeaseTests {

	private static final Duration LENGTH = Duration.ofSeconds(10);

	private final TurnedClock clock = new TurnedClock();

	private final List<String> losses = new ArrayList<>();

	private Lease lease(MachineClock.Moment sent) {
		Turn turn = new LocalQueues().join("key", null);
		return new Lease(new Lease.Grant(turn, "owner", LENGTH, true, 1000, sent, null), this.clock,
				(lease, reason) -> this.losses.add(reason));
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
		Lease lease = lease(this.clock.now());
		this.clock.pass(Duration.ofMillis(9897));
		assertThat(lease.isValid()).isTrue();
		this.clock.pass(Duration.ofMillis(1));
		assertThat(lease.isValid()).isFalse();
	}

	@Test
	void r2LeaseWithHardlyAnythingLeftIsStale() {
		MachineClock.Moment sent = this.clock.now();
		this.clock.pass(Duration.ofMillis(7890));
		assertThat(lease(sent).isStale()).isFalse();
		this.clock.pass(Duration.ofMillis(20));
		assertThat(lease(sent).isStale()).isTrue();
	}

	@Test
	void r3WallClockSetForwardLosesTheLockAndSetBackChangesNothing() {
		Lease lease = lease(this.clock.now());
		this.clock.stepWall(Duration.ofHours(-2));
		this.clock.pass(Duration.ofSeconds(9));
		assertThat(lease.isValid()).isTrue();
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(lease.isValid()).isFalse();
		Lease other = lease(this.clock.now());
		this.clock.stepWall(Duration.ofHours(1));
		assertThat(other.isValid()).isFalse();
	}

	@Test
	void r3SuspensionOfTheMachineIsNoticed() {
		Lease lease = lease(this.clock.now());
		this.clock.passOnTheWallOnly(Duration.ofSeconds(11));
		assertThat(lease.isValid()).isFalse();
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
		Lease lease = lease(this.clock.now());
		this.clock.pass(Duration.ofMillis(9898));
		assertThat(lease.isValid()).as("whatever the renewal is doing").isFalse();
		assertThat(lease.isValid()).isFalse();
	}

	@Test
	void r8LossIsFinalEvenIfALateRenewalSucceeds() {
		Lease lease = lease(this.clock.now());
		this.clock.pass(Duration.ofSeconds(11));
		lease.renewed(this.clock.now());
		assertThat(lease.isValid()).isFalse();
		assertThat(lease.isLost()).isTrue();
		assertThat(this.losses).hasSize(1);
		assertThat(lease.lose("again")).isFalse();
		assertThat(lease.beginRelease()).isFalse();
	}

	@Test
	void r8WhoeverLooksFirstFindsTheLoss() {
		Lease lease = lease(this.clock.now());
		this.clock.pass(Duration.ofSeconds(11));
		assertThat(this.losses).isEmpty();
		assertThat(lease.isLost()).isTrue();
		assertThat(this.losses).singleElement().asString().contains("10000 ms");
	}

	@Test
	void r27RefusalAfterTheReleaseBeganMeansNothing() {
		Lease lease = lease(this.clock.now());
		assertThat(lease.beginRelease()).isTrue();
		assertThat(lease.lose("the store refused")).isFalse();
		assertThat(lease.isLost()).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(this.losses).isEmpty();
	}

	@Test
	void nestedHandlesAreCountedAndLostLeasesAreNotShared() {
		Lease lease = lease(this.clock.now());
		assertThat(lease.retain()).isTrue();
		assertThat(lease.drop()).isFalse();
		assertThat(lease.drop()).isTrue();
		assertThat(lease.retain()).isFalse();
		Lease lost = lease(this.clock.now());
		this.clock.pass(LENGTH);
		assertThat(lost.retain()).isFalse();
	}

	@Test
	void publicTokenLeavesRoomForHandOffs() {
		assertThat(lease(this.clock.now()).token()).isEqualTo(1000 * 1024);
	}

}
