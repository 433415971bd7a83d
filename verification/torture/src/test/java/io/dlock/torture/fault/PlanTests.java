package io.dlock.torture.fault;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Plan}.
 */
class PlanTests {

	private static final Duration LEASE = Duration.ofSeconds(1);

	private static final Scope.Sizes SIZES = new Scope.Sizes(3, 3, 1);

	private final List<FaultType> types = IntStream.range(0, 6)
		.mapToObj((i) -> List
			.of(ClientFaults.all(LEASE), LinkFaults.all(LEASE, Scope.LINK), NodeFaults.durable(LEASE),
					RedisFaults.safe(LEASE), DiskFaults.redis(LEASE), InsideFaults.all(LEASE))
			.get(i))
		.flatMap(List::stream)
		.toList();

	@Test
	void sameSeedMakesSamePlan() {
		Plan.Pace pace = Plan.Pace.campaign(Duration.ofMinutes(10), LEASE);
		List<PlannedFault> plan = Plan.make(this.types, SIZES, pace, 7);
		assertThat(text(plan)).isEqualTo(text(Plan.make(this.types, SIZES, pace, 7)));
		assertThat(text(plan)).isNotEqualTo(text(Plan.make(this.types, SIZES, pace, 8)));
	}

	@Test
	void smokeHasEveryKindOnce() {
		List<PlannedFault> plan = Plan.make(this.types, SIZES, Plan.Pace.smoke(LEASE, LEASE.dividedBy(2)), 1);
		assertThat(plan).extracting(PlannedFault::type).containsExactlyInAnyOrderElementsOf(this.types);
		assertThat(last(plan)).isLessThan(Duration.ofSeconds(75).toMillis());
	}

	@Test
	void smokeBeginsLongFaultsAndDoesNotAwaitThem() {
		List<FaultType> types = List.of(LinkFaults.silentSubscription(Scope.LINK));
		assertThat(Plan.make(types, SIZES, Plan.Pace.smoke(LEASE, LEASE.dividedBy(2)), 1)).singleElement()
			.extracting(PlannedFault::duration)
			.isEqualTo(5 * LEASE.toMillis());
		assertThat(Plan.make(types, SIZES, Plan.Pace.campaign(Duration.ofMinutes(1), LEASE), 1))
			.allMatch((fault) -> fault.duration() >= 20_000);
	}

	@Test
	void campaignLastsAsLongAsItShouldAndHasElevenFaultsInOneMinute() {
		List<PlannedFault> plan = Plan.make(this.types, SIZES, Plan.Pace.campaign(Duration.ofMinutes(30), LEASE), 1);
		assertThat(last(plan)).isBetween(Duration.ofMinutes(28).toMillis(), Duration.ofMinutes(31).toMillis());
		assertThat(plan).hasSizeGreaterThan(11 * 30);
	}

	@Test
	void faultsOfOneResourceDoNotOverlapButOthersDo() {
		List<PlannedFault> plan = Plan.make(this.types, SIZES, Plan.Pace.campaign(Duration.ofMinutes(30), LEASE), 3);
		long overlapping = 0;
		for (PlannedFault one : plan) {
			for (PlannedFault other : plan) {
				if (one != other && one.at() <= other.at() && other.at() <= one.end()) {
					overlapping += 1;
					assertThat(resources(one)).doesNotContainAnyElementsOf(resources(other));
				}
			}
		}
		assertThat(overlapping).isGreaterThan(50);
	}

	@Test
	void failoversComeWhenTheOnesBeforeAreOver() {
		Duration quarantine = Duration.ofSeconds(6);
		List<FaultType> failovers = FailoverFaults.losing(LEASE)
			.stream()
			.map((fault) -> fault.quarantined(quarantine))
			.toList();
		List<PlannedFault> plan = Plan.make(failovers, SIZES, Plan.Pace.campaign(Duration.ofMinutes(10), LEASE), 1);
		for (int i = 1; i < plan.size(); i++) {
			assertThat(plan.get(i).at() - plan.get(i - 1).end())
				.isGreaterThanOrEqualTo(quarantine.plusSeconds(20).toMillis());
		}
		assertThat(plan).hasSizeGreaterThan(15);
	}

	@Test
	void selfInflictedFaultOverlapsPausesOfTheClientButNotItsDeath() {
		assertThat(Scope.INSIDE.resources(1, SIZES)).doesNotContainAnyElementsOf(Scope.CLIENT.resources(1, SIZES))
			.containsAnyElementsOf(Scope.LIFE.resources(1, SIZES));
		assertThat(Scope.CLIENT.resources(1, SIZES)).containsAnyElementsOf(Scope.LIFE.resources(1, SIZES));
	}

	@Test
	void exclusiveSelfInflictedFaultOverlapsNoOtherFaultOfTheClient() {
		List<String> alone = Scope.INSIDE_ALONE.resources(1, SIZES);
		for (Scope scope : Scope.values()) {
			assertThat(scope.resources(1, SIZES)).as(scope.name()).containsAnyElementsOf(alone);
		}
		assertThat(alone).doesNotContainAnyElementsOf(Scope.LIFE.resources(0, SIZES));
	}

	private static List<String> resources(PlannedFault fault) {
		return fault.type().scope().resources(fault.target(), SIZES);
	}

	private static long last(List<PlannedFault> plan) {
		return plan.stream().mapToLong(PlannedFault::end).max().orElseThrow();
	}

	private static List<String> text(List<PlannedFault> plan) {
		return plan.stream().map(PlannedFault::toString).toList();
	}

}
