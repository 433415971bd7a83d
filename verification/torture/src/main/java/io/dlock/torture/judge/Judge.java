package io.dlock.torture.judge;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * Reads what happened in a campaign and says which invariants were broken. It must not
 * accuse falsely: a violation that is not certain is not counted.
 */
public final class Judge {

	/**
	 * The time that a busy machine may add to any other, beyond the stalls that the
	 * clients noticed themselves.
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
		HandOffs.judge(run, findings);
		Losses.judge(run, findings);
		Calls.judge(run, findings);
		Answers.judge(run, findings);
		Availability.judge(run, findings);
		Recovery.judge(run, findings);
		Order.judge(run, findings);
		Troubles.judge(run, findings);
		Deadlines.judge(run, findings);
		FalseBusy.judge(run, findings);
		Inversions.judge(run, findings);
		KeptLocks.judge(run, findings);
		Restorations.judge(run, findings);
		Messages.judge(run, findings);
		run.checks().forEach((check) -> judge(check, findings));
		Map<Invariant, Integer> counts = new EnumMap<>(Invariant.class);
		Map<Invariant, Coverage> coverage = new EnumMap<>(Invariant.class);
		for (Invariant invariant : Invariant.values()) {
			counts.put(invariant, findings.count(invariant));
			coverage.put(invariant, findings.coverage(invariant));
		}
		Figures figures = Figures.of(run);
		return new Verdict(run.timeline().isLossy(), counts, coverage, findings.violations(),
				Proof.vacuous(run, figures, findings), Proof.unproven(run, figures, findings), figures, run.leftovers(),
				run.options());
	}

	private static void judge(Run.Check check, Findings findings) {
		Invariant invariant = Invariant.valueOf(check.invariant());
		findings.judged(invariant);
		if (!check.holds()) {
			findings.violation(invariant, 0, check.text());
		}
	}

}
