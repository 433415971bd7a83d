package io.dlock.torture.fault;

import java.time.Duration;
import java.util.List;

/**
 * Faults inside the process of a client, which inflicts them on itself when it is told.
 * The load that it must be able to bear comes with other faults and without: with them
 * the store fails at the worst time, without them nothing is an excuse.
 */
final class InsideFaults {

	private InsideFaults() {
	}

	static List<FaultType> all(Duration lease) {
		FaultType manyLocks = inside("F28b", "many-locks").lasting(Range.times(lease, 2, 4))
			.amounting(Range.of(500, 500));
		FaultType keyFlood = inside("F30", "key-flood").lasting(Range.times(lease, 1, 3))
			.amounting(Range.of(2000, 20_000));
		return List.of(inside("F27", "application-exhausted").lasting(Range.times(lease, 1, 3)), manyLocks,
				alone(manyLocks),
				inside("F29", "heap-pressure").lasting(Range.times(lease, 0.5, 2)).amounting(Range.of(16, 32)),
				keyFlood, alone(keyFlood));
	}

	private static FaultType inside(String id, String name) {
		return FaultType.safe(id, name, Scope.INSIDE, (fault) -> fault.afflict(name));
	}

	private static FaultType alone(FaultType type) {
		return FaultType.safe(type.id(), type.name() + "-alone", Scope.INSIDE_ALONE, type.action())
			.lasting(type.duration())
			.amounting(type.amount());
	}

}
