package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.dlock.torture.history.Event;

/**
 * The proof that a run gives: none if nothing had to be survived, if it did not write
 * down the events, or if too much of it is excused. A brief run, which has each fault
 * once and may have other work beside it, has to judge a number of cases.
 */
final class Proof {

	/** Of the invariants of which most may be excused, a brief run judges a number. */
	private static final double MOST = 0.5;

	/** The machine may be slow for that part of the time. */
	private static final double MOST_SLOW = 0.5;

	/** The part of the lost locks that may have no reason but the machine. */
	private static final double MOST_LOST_TO_MACHINE = 0.1;

	/** A machine that hiccups once is not yet a reason to doubt everything. */
	private static final int FEW = 5;

	/** The calls of a kind that have to be granted if a run was asked for it. */
	private static final int LEAST_OF_A_KIND = 20;

	private final Run run;

	private final Figures figures;

	private final Findings findings;

	private final List<String> reasons = new ArrayList<>();

	private Proof(Run run, Figures figures, Findings findings) {
		this.run = run;
		this.figures = figures;
		this.findings = findings;
	}

	/**
	 * The events that had to be survived and did not happen.
	 */
	static List<String> vacuous(Run run, Figures figures, Findings findings) {
		Proof proof = new Proof(run, figures, findings);
		proof.require(figures.lost() > 0 || !run.limits().notified(), "no lock was lost");
		proof.require(figures.takeOvers() > 0, "no lock was taken over");
		proof.require(figures.outcomes().containsKey(Event.UNKNOWN.name()), "no outcome was unknown");
		proof.require(figures.outcomes().containsKey(Event.QUARANTINED.name()) || !run.isQuarantined(),
				"no call was told of a quarantine");
		proof.require(figures.rejectedWrites() > 0 || !run.limits().fenced(), "no write was rejected");
		proof.require(figures.cyclesUnderFault() > 0, "no fault touched a lock");
		if (run.limits().notified()) {
			proof.require(figures.outcomes().containsKey(Event.INTERRUPTED.name()) || !run.isAsked("threads"),
					"no call was interrupted");
			proof.require(findings.areReadersSeen() || !run.isAsked("places"),
					"no lock was shared by two processes at a time");
			proof.require(findings.arePermitsSeen() || !run.isAsked("places"), "no permits reached their limit");
		}
		return proof.reasons;
	}

	/**
	 * The missing data, and the invariants that were not judged.
	 */
	static List<String> unproven(Run run, Figures figures, Findings findings) {
		Proof proof = new Proof(run, figures, findings);
		proof.reasons.addAll(run.missing());
		proof.machine();
		KindFigures.ASKED.forEach(proof::kind);
		for (Invariant invariant : Invariant.values()) {
			if (invariant.mustHold(run.timeline().isLossy()) && proof.isPromised(invariant)) {
				proof.coverage(invariant);
			}
		}
		Coverage freed = findings.coverage(Invariant.I7).plus(findings.coverage(Invariant.I14));
		proof.require(!run.isBrief() || run.timeline().isLossy() || freed.judged() >= Invariant.BRIEF_CASES,
				"I7: %d judged with I14, at least %d have to be".formatted(freed.judged(), Invariant.BRIEF_CASES));
		return proof.reasons;
	}

	private void kind(String option, String kind) {
		KindFigures calls = this.figures.kinds().get(kind);
		require((calls != null && calls.granted() >= LEAST_OF_A_KIND) || !this.run.isAsked(option),
				"fewer than %d calls of the kind '%s' were granted".formatted(LEAST_OF_A_KIND, kind));
	}

	private void machine() {
		require(this.run.isBrief() || this.figures.slowSeconds() <= MOST_SLOW * this.figures.seconds(),
				"the machine was slow for %.0f of %.0f s, at most %.0f %% may be".formatted(this.figures.slowSeconds(),
						this.figures.seconds(), 100 * MOST_SLOW));
		long lost = this.findings.lostToMachineCount();
		require(lost <= Math.max(FEW, MOST_LOST_TO_MACHINE * this.figures.lost()),
				lost + " locks were lost for no reason but a slow machine, of " + this.figures.lost());
	}

	private void coverage(Invariant invariant) {
		Coverage coverage = this.findings.coverage(invariant);
		boolean brief = this.run.isBrief();
		require(coverage.judged() > 0 || !invariant.isAlwaysJudged(), invariant + " was not judged");
		int least = invariant.leastJudged(this.run.options());
		require(coverage.judged() >= least,
				"%s: %d judged, at least %d have to be".formatted(invariant, coverage.judged(), least));
		require(coverage.excusedShare() <= invariant.mostExcused() || (brief && invariant.mostExcused() > MOST),
				String.format(Locale.ROOT, "%s: %.0f %% excused, at most %.0f %% may be", invariant,
						100 * coverage.excusedShare(), 100 * invariant.mostExcused()));
	}

	private boolean isPromised(Invariant invariant) {
		return switch (invariant) {
			case I2, I3, I4, I5, I12, I17 -> this.run.limits().fenced();
			case I6 -> this.run.limits().notified();
			default -> true;
		};
	}

	private void require(boolean happened, String otherwise) {
		if (!happened) {
			this.reasons.add(otherwise);
		}
	}

}
