package io.dlock.torture.fault;

import java.time.Duration;
import java.util.List;

/**
 * What happens inside the process of a client, which does it to itself when it is told.
 */
final class InsideFaults {

	private InsideFaults() {
	}

	static List<FaultType> all(Duration lease) {
		return List.of(inside("F27", "application-exhausted").lasting(Range.times(lease, 1, 3)),
				inside("F28b", "many-locks").lasting(Range.times(lease, 2, 4)).amounting(Range.of(500, 500)),
				inside("F29", "heap-pressure").lasting(Range.times(lease, 0.5, 2)).amounting(Range.of(16, 32)),
				inside("F30", "key-flood").lasting(Range.times(lease, 1, 4)).amounting(Range.of(2000, 20_000)));
	}

	private static FaultType inside(String id, String name) {
		return FaultType.safe(id, name, Scope.INSIDE, (fault) -> fault.afflict(name));
	}

}
