package io.dlock.torture.fault;

/**
 * A fault to come.
 *
 * @param number its place in the plan
 * @param type its kind
 * @param target the index of its target
 * @param at when it starts, in milliseconds from the start of the plan
 * @param duration how long it lasts, in milliseconds
 * @param amount how much of it
 */
public record PlannedFault(int number, FaultType type, int target, long at, long duration, long amount) {

	long end() {
		return this.at + this.duration;
	}

	String targetName() {
		return this.type.scope().target(this.target);
	}

	@Override
	public String toString() {
		return "%d %s %s %s at=%d duration=%d amount=%d".formatted(this.number, this.type.id(), targetName(),
				this.type.name(), this.at, this.duration, this.amount);
	}

}
