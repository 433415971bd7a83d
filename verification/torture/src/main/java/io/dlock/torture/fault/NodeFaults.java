package io.dlock.torture.fault;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Faults of the processes of the store.
 */
final class NodeFaults {

	private NodeFaults() {
	}

	static List<FaultType> durable(Duration lease) {
		return Stream.concat(restarts(lease).stream(), Stream.of(pause(lease))).toList();
	}

	static List<FaultType> restarts(Duration lease) {
		return List.of(FaultType.safe("F4", "kill-and-restart", Scope.NODE, NodeFaults::restart),
				FaultType.safe("F5", "down", Scope.NODE, NodeFaults::restart).lasting(Range.times(lease, 0.5, 4)));
	}

	static FaultType forgetfulRestart(Duration lease) {
		return FaultType.losing("F15", "forgetful-restart", Scope.NODE, NodeFaults::restart)
			.lasting(Range.times(lease, 0, 0.5));
	}

	static FaultType pause(Duration lease) {
		return FaultType.safe("F6", "pause", Scope.NODE, NodeFaults::pause).lasting(Range.times(lease, 0.5, 2));
	}

	/**
	 * Forward it is the loss of every lease, backward leases without an end.
	 */
	static FaultType clockStep(Duration lease) {
		return FaultType.losing("F18", "clock-step", Scope.STORE, NodeFaults::clockStep)
			.lasting(Range.times(lease, 0.5, 3))
			.amounting(Range.times(lease, -2, 4));
	}

	private static void restart(Infliction fault) throws InterruptedException {
		fault.node().kill();
		fault.hold();
		fault.node().restart();
	}

	private static void pause(Infliction fault) throws InterruptedException {
		fault.node().pause();
		try {
			fault.hold();
		}
		finally {
			fault.node().resume();
		}
	}

	private static void clockStep(Infliction fault) throws InterruptedException {
		ClockOffset clock = fault.bed().storeClock().orElseThrow();
		clock.set(fault.amountMillis());
		fault.hold();
		clock.set(Duration.ZERO);
	}

}
