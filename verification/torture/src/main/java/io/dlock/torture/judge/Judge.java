package io.dlock.torture.judge;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.dlock.torture.history.Event;

/**
 * Reads what happened in a campaign and says which invariants were broken. It must not
 * accuse anybody falsely: what is not certain is not counted.
 */
public final class Judge {

	/**
	 * What a busy machine may add to any time, beyond the stalls that the clients noticed
	 * themselves.
	 */
	public static final Duration SLACK = Duration.ofMillis(100);

	private Judge() {
	}

	/**
	 * Judge the run in a directory.
	 * @param directory the directory
	 * @param slack what the machine may add to any time
	 * @return the verdict
	 */
	public static Verdict judge(Path directory, Duration slack) {
		return judge(new RunReader(directory, slack.toNanos()).read());
	}

	static Verdict judge(Run run) {
		Findings findings = new Findings();
		Exclusion.judge(run, findings);
		Resource.judge(run, findings);
		Tokens.judge(run, findings);
		Losses.judge(run, findings);
		Calls.judge(run, findings);
		Availability.judge(run, findings);
		Recovery.judge(run, findings);
		Order.judge(run, findings);
		Troubles.judge(run, findings);
		run.checks().forEach((check) -> findings.violation(Invariant.valueOf(check.invariant()), 0, check.text()));
		Map<Invariant, Integer> counts = new EnumMap<>(Invariant.class);
		Map<Invariant, Integer> excused = new EnumMap<>(Invariant.class);
		for (Invariant invariant : Invariant.values()) {
			counts.put(invariant, findings.count(invariant));
			excused.put(invariant, findings.excusedCount(invariant));
		}
		Figures figures = Figures.of(run);
		return new Verdict(run.timeline().isLossy(), counts, excused, findings.violations(), vacuous(run, figures),
				figures, run.leftovers(), run.options());
	}

	/**
	 * A run in which nothing had to be survived is not green.
	 */
	private static List<String> vacuous(Run run, Figures figures) {
		List<String> reasons = new ArrayList<>();
		require(reasons, figures.lost() > 0 || !run.limits().notified(), "no lock was lost");
		require(reasons, figures.takeOvers() > 0, "no lock was taken over");
		require(reasons, figures.outcomes().containsKey(Event.UNKNOWN.name()), "no outcome was unknown");
		require(reasons, figures.rejectedWrites() > 0 || !run.limits().fenced(), "no write was rejected");
		require(reasons, figures.cyclesUnderFault() > 0, "no fault touched a lock");
		return reasons;
	}

	private static void require(List<String> reasons, boolean happened, String otherwise) {
		if (!happened) {
			reasons.add(otherwise);
		}
	}

}
