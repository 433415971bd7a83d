package io.dlock.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How many locks of each name are held and waited for, and for how long.
 */
final class CountsByName {

	/** Of requests without a name. */
	private static final String NO_NAME = "";

	private final LeaseKeeper keeper;

	private final LocalQueues queues;

	CountsByName(LeaseKeeper keeper, LocalQueues queues) {
		this.keeper = keeper;
		this.queues = queues;
	}

	Map<String, Integer> held() {
		return count(this.keeper.leases().stream().map((lease) -> lease.holder().turn()));
	}

	/**
	 * A lock on offer, or being released, has no holder.
	 */
	Map<String, Duration> longestHolds() {
		Map<String, Duration> longest = new HashMap<>();
		this.keeper.leases()
			.stream()
			.map(Lease::holder)
			.filter(Hold::isHeld)
			.forEach((hold) -> longest.merge(name(hold.turn()), hold.age(),
					(one, other) -> (one.compareTo(other) >= 0) ? one : other));
		return longest;
	}

	Map<String, Integer> waiting() {
		return count(this.queues.waiting().stream());
	}

	private static Map<String, Integer> count(Stream<Turn> turns) {
		Map<String, Integer> counts = new HashMap<>();
		turns.forEach((turn) -> counts.merge(name(turn), 1, Integer::sum));
		return counts;
	}

	private static String name(Turn turn) {
		String name = turn.acquisition().request().name();
		return (name != null) ? name : NO_NAME;
	}

}
