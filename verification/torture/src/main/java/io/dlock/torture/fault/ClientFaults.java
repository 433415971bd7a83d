package io.dlock.torture.fault;

import java.time.Duration;
import java.util.List;

/**
 * Faults of the process of a client.
 */
final class ClientFaults {

	private ClientFaults() {
	}

	static List<FaultType> all(Duration lease) {
		return List.of(
				FaultType.safe("F1", "pause", Scope.CLIENT, ClientFaults::pause).lasting(Range.times(lease, 0.5, 3)),
				FaultType.safe("F3", "kill", Scope.LIFE, ClientFaults::kill).lasting(Range.times(lease, 0, 1)),
				FaultType.safe("F3", "kill-holder", Scope.CLIENT_AND_NOTHING_ELSE, ClientFaults::killHolder)
					.lasting(Range.times(lease, 4.5, 5)));
	}

	/**
	 * Only where a client has a network of its own.
	 */
	static FaultType frozenBeforeReply(Duration lease) {
		return FaultType.safe("F2", "frozen-before-reply", Scope.CLIENT_AND_LINK, ClientFaults::frozenBeforeReply)
			.lasting(Range.times(lease, 0.5, 3))
			.amounting(Range.of(1, 100));
	}

	static FaultType clockStep(Duration lease) {
		return FaultType.safe("F20", "clock-step", Scope.CLOCK, ClientFaults::clockStep)
			.lasting(Range.times(lease, 0.5, 4))
			.amounting(Range.of(-3_600_000, 3_600_000));
	}

	static FaultType clockDrift(Duration lease) {
		return FaultType.safe("F20", "clock-drift-percent", Scope.CLOCK, ClientFaults::clockDrift)
			.lasting(Range.times(lease, 2, 4))
			.amounting(Range.of(-50, 50));
	}

	private static void pause(Infliction fault) throws InterruptedException {
		fault.client().pause();
		try {
			fault.hold();
		}
		finally {
			fault.client().resume();
		}
	}

	private static void kill(Infliction fault) throws InterruptedException {
		fault.killClient();
		fault.hold();
		fault.client().respawn();
	}

	/**
	 * Shows how long a lock is gone with its holder: what was broken before has a lease
	 * to recover, then the client is killed as soon as it holds a lock that others want,
	 * and nothing else is broken until they have it.
	 */
	private static void killHolder(Infliction fault) throws InterruptedException {
		Duration lease = fault.bed().lease();
		fault.pause(lease);
		long patience = System.nanoTime() + lease.toNanos();
		while (!fault.client().holdsSharedLock() && System.nanoTime() < patience) {
			fault.pause(Duration.ofMillis(1));
		}
		kill(fault);
	}

	/**
	 * The requests of the client arrive, the answers wait until the client runs again.
	 */
	private static void frozenBeforeReply(Infliction fault) throws InterruptedException {
		fault.link().blackHoleReplies(true);
		fault.pause(fault.amountMillis());
		pause(fault);
		fault.link().blackHoleReplies(false);
	}

	private static void clockStep(Infliction fault) throws InterruptedException {
		ClockOffset clock = fault.client().clock().orElseThrow();
		clock.set(fault.amountMillis());
		fault.hold();
		clock.set(Duration.ZERO);
	}

	private static void clockDrift(Infliction fault) throws InterruptedException {
		ClockOffset clock = fault.client().clock().orElseThrow();
		Duration step = Duration.ofMillis(20);
		Duration offset = Duration.ZERO;
		while (fault.pause(step)) {
			offset = offset.plus(step.multipliedBy(fault.amount()).dividedBy(100));
			clock.set(offset);
		}
		clock.set(Duration.ZERO);
	}

}
