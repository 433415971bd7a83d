package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.dlock.torture.judge.Intervals.Interval;

/**
 * I8 in figures: how long nobody got a lock after its holder was killed, and after the
 * store was healed.
 */
final class Recovery {

	private static final int TIMEOUTS_AFTER_HEAL = 3;

	private Recovery() {
	}

	/**
	 * From the death of a holder to the next grant of its key, less its lease. Only where
	 * somebody waited when the lease was over, and no fault of the store came in between.
	 * @param run the run
	 * @return nanoseconds, negative if the lease had begun earlier
	 */
	static List<Long> afterDeath(Run run) {
		List<Long> samples = new ArrayList<>();
		for (List<Attempt> attempts : run.byKey().values()) {
			List<Attempt> grants = attempts.stream()
				.filter(Attempt::isGranted)
				.sorted(Comparator.comparingLong(Attempt::returned))
				.toList();
			for (int i = 0; i + 1 < grants.size(); i++) {
				Attempt dead = grants.get(i);
				Attempt heir = grants.get(i + 1);
				long killed = dead.client().killed();
				if (dead.releaseSent() == 0 && killed != 0 && heir.invoked() < killed + dead.lease()
						&& !heir.client().storeFaults().intersects(killed - dead.lease(), heir.returned())) {
					samples.add(heir.client().running(killed, heir.returned()) - dead.lease());
				}
			}
		}
		return samples;
	}

	/**
	 * From the end of a fault of the store to the first grant to any client it concerned.
	 * Only where the fault lasted longer than a command may.
	 * @param run the run
	 * @return nanoseconds
	 */
	static List<Long> afterHeal(Run run) {
		List<Attempt> grants = run.attempts()
			.stream()
			.filter(Attempt::isGranted)
			.sorted(Comparator.comparingLong(Attempt::returned))
			.toList();
		List<Long> samples = new ArrayList<>();
		for (Interval outage : run.timeline().outages().all()) {
			if (outage.to() - outage.from() > run.limits().commandTimeout()) {
				grants.stream()
					.filter((grant) -> grant.returned() > outage.to())
					.findFirst()
					.ifPresent((first) -> samples.add(first.client().running(outage.to(), first.returned())));
			}
		}
		return samples;
	}

	static void judge(Run run, Findings findings) {
		long limit = TIMEOUTS_AFTER_HEAL * run.limits().commandTimeout() + run.limits().slack();
		afterHeal(run).stream()
			.filter((took) -> took > limit)
			.forEach((took) -> findings.violation(Invariant.I8, 0,
					"The first lock after the store was healed took %.0f ms".formatted(took / 1e6)));
	}

}
