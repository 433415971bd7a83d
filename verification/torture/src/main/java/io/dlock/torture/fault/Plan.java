package io.dlock.torture.fault;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Which fault comes when: windows with several faults each, which may overlap, and calm
 * between the windows, so that recovery is seen as well. All kinds come before one comes
 * again. The plan depends on nothing but its arguments.
 */
public final class Plan {

	private final List<PlannedFault> faults = new ArrayList<>();

	private final Map<String, Long> busyUntil = new HashMap<>();

	private final Deque<FaultType> bag = new ArrayDeque<>();

	private final List<FaultType> types;

	private final Scope.Sizes sizes;

	private final Pace pace;

	private final Random random;

	private Plan(List<FaultType> types, Scope.Sizes sizes, Pace pace, long seed) {
		this.types = types;
		this.sizes = sizes;
		this.pace = pace;
		this.random = new Random(seed);
	}

	/**
	 * Make a plan.
	 * @param types the kinds of fault
	 * @param sizes how many targets there are
	 * @param pace how fast they come
	 * @param seed the seed
	 * @return the plan, ordered by start
	 */
	public static List<PlannedFault> make(List<FaultType> types, Scope.Sizes sizes, Pace pace, long seed) {
		return new Plan(types, sizes, pace, seed).make();
	}

	private List<PlannedFault> make() {
		long at = this.pace.calm().toMillis();
		while (goesOn(at)) {
			long end = at + this.pace.window().draw(this.random);
			int count = this.pace.faultsPerWindow(end - at);
			for (int i = 0; i < count && goesOn(at); i++) {
				if (this.bag.isEmpty()) {
					refill();
				}
				end = Math.max(end, add(at, end));
			}
			at = end + this.pace.calm().toMillis();
		}
		this.faults.sort(Comparator.comparingLong(PlannedFault::at).thenComparingInt(PlannedFault::number));
		return List.copyOf(this.faults);
	}

	private boolean goesOn(long at) {
		if (this.pace.duration().isZero()) {
			return this.faults.isEmpty() || !this.bag.isEmpty();
		}
		return at < this.pace.duration().toMillis();
	}

	private void refill() {
		List<FaultType> shuffled = new ArrayList<>(this.types);
		Collections.shuffle(shuffled, this.random);
		this.bag.addAll(shuffled);
	}

	/**
	 * Add the next fault, as soon in the window as what it needs is free.
	 * @return when it ends
	 */
	private long add(long from, long until) {
		FaultType type = this.bag.removeFirst();
		int target = this.random.nextInt(type.scope().count(this.sizes));
		long wanted = from + this.random.nextLong(Math.max(1, (until - from) / 2));
		List<String> resources = type.scope().resources(target, this.sizes);
		long free = resources.stream().mapToLong((name) -> this.busyUntil.getOrDefault(name, 0L)).max().orElse(0);
		PlannedFault fault = new PlannedFault(this.faults.size(), type, target, Math.max(wanted, free),
				Math.min(type.duration().draw(this.random), this.pace.longest().toMillis()),
				type.amount().draw(this.random));
		long over = fault.end() + type.recovery().toMillis();
		resources.forEach((name) -> this.busyUntil.put(name, over + this.pace.calm().toMillis() / 2));
		this.faults.add(fault);
		return fault.end();
	}

	/**
	 * How fast the faults come.
	 *
	 * @param duration how long, or zero for every kind once
	 * @param window how long a window is, in milliseconds
	 * @param perFault the time for one fault in a window, in milliseconds
	 * @param calm the time between the windows
	 * @param longest the longest time that a fault lasts
	 */
	public record Pace(Duration duration, Range window, long perFault, Duration calm, Duration longest) {

		/**
		 * The pace of a campaign: windows of 2 to 20 seconds.
		 * @param duration how long
		 * @param lease the lease of the locks
		 * @return the pace
		 */
		public static Pace campaign(Duration duration, Duration lease) {
			return new Pace(duration, Range.of(2000, 20_000), 2500, lease, Duration.ofMinutes(1));
		}

		/**
		 * The pace of a smoke test: every kind once, as fast as possible. Long faults are
		 * begun, not awaited.
		 * @param lease the lease of the locks
		 * @param recovery the time after a fault in which it is still a reason for
		 * trouble
		 * @return the pace
		 */
		public static Pace smoke(Duration lease, Duration recovery) {
			return new Pace(Duration.ZERO, Range.of(600, 1200), 300, recovery.plus(lease.dividedBy(2)),
					lease.multipliedBy(5));
		}

		int faultsPerWindow(long length) {
			return (int) Math.max(1, length / this.perFault);
		}

	}

}
