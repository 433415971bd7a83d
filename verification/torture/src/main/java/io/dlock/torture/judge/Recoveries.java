package io.dlock.torture.judge;

import java.time.Duration;
import java.util.List;

import io.dlock.torture.judge.Recovery.Death;

/**
 * How soon locks were available again, and what was aimed at. Times are in milliseconds;
 * each sample is kept, so that the figures of several runs can be put together.
 *
 * @param beyondLease from the death of a holder to the next grant of its lock, less the
 * lease
 * @param beyondEnd from the end of the lease of a dead holder to the next grant, where
 * that end is known
 * @param afterHeal from the end of an outage to the first grant
 * @param deathTarget what {@code beyondLease} shall not exceed in 99 of 100
 * @param healTarget what {@code afterHeal} shall never exceed
 */
public record Recoveries(List<Double> beyondLease, List<Double> beyondEnd, List<Double> afterHeal, double deathTarget,
		double healTarget) {

	private static final Duration AFTER_DEATH = Duration.ofMillis(250);

	static Recoveries of(Run run) {
		List<Death> deaths = Recovery.deaths(run);
		return new Recoveries(deaths.stream().map((death) -> millis(death.beyondLease())).toList(),
				deaths.stream()
					.filter((death) -> death.beyondEnd() >= 0)
					.map((death) -> millis(death.beyondEnd()))
					.toList(),
				Recovery.afterHeal(run).stream().map(Recoveries::millis).toList(), AFTER_DEATH.toMillis(),
				millis(Recovery.TIMEOUTS_AFTER_HEAL * run.limits().commandTimeout()));
	}

	private static double millis(long nanos) {
		return nanos / 1e6;
	}

	/**
	 * Whether locks of the dead came back in time.
	 * @return whether the target is met, as far as there are samples
	 */
	public boolean isDeathTargetMet() {
		return Percentiles.of(this.beyondLease).p99() <= this.deathTarget;
	}

	/**
	 * Whether all outages were over in time.
	 * @return whether the target is met, as far as there are samples
	 */
	public boolean isHealTargetMet() {
		return this.afterHeal.stream().allMatch((took) -> took <= this.healTarget);
	}

}
