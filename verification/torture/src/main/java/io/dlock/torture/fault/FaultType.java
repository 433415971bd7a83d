package io.dlock.torture.fault;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A kind of fault.
 *
 * @param id the number it has in the list of faults, such as {@code F10}
 * @param name what it does
 * @param tier what may happen to the promises
 * @param scope what it needs for itself
 * @param duration how long it lasts, in milliseconds
 * @param amount how much of it, in a unit of its own
 * @param recovery how long it takes at most to be over after its duration, for the plan
 * @param action how to inflict it
 */
public record FaultType(String id, String name, Tier tier, Scope scope, Range duration, Range amount, Duration recovery,
		Action action) {

	static FaultType safe(String id, String name, Scope scope, Action action) {
		return new FaultType(id, name, Tier.S, scope, Range.NONE, Range.NONE, Duration.ZERO, action);
	}

	static FaultType losing(String id, String name, Scope scope, Action action) {
		return new FaultType(id, name, Tier.L, scope, Range.NONE, Range.NONE, Duration.ZERO, action);
	}

	/**
	 * The same, of a store that grants no lock for a while when it may have forgotten
	 * some: the fault is over when it does again, healed or not.
	 */
	FaultType quarantined(Duration quarantine) {
		return new FaultType(this.id, this.name, Tier.S, this.scope, this.duration, this.amount,
				this.recovery.plus(quarantine), (fault) -> {
					try {
						this.action.inflict(fault);
					}
					finally {
						TimeUnit.NANOSECONDS.sleep(quarantine.toNanos());
					}
				});
	}

	FaultType lasting(Range duration) {
		return new FaultType(this.id, this.name, this.tier, this.scope, duration, this.amount, this.recovery,
				this.action);
	}

	FaultType amounting(Range amount) {
		return new FaultType(this.id, this.name, this.tier, this.scope, this.duration, amount, this.recovery,
				this.action);
	}

	FaultType recoveringWithin(Duration recovery) {
		return new FaultType(this.id, this.name, this.tier, this.scope, this.duration, this.amount, recovery,
				this.action);
	}

	/**
	 * Inflicts a fault and takes it back.
	 */
	@FunctionalInterface
	public interface Action {

		/**
		 * Inflict the fault, {@link Infliction#hold() hold} it, and take it back.
		 * @param infliction on whom, and how much
		 * @throws Exception if that is not possible now
		 */
		void inflict(Infliction infliction) throws Exception;

	}

}
