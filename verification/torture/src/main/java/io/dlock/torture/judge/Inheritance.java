package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.dlock.torture.judge.Intervals.Interval;

/**
 * I8 of each lock whose holder was killed: it is not kept from the clients that want it.
 * Of the time from the end of its lease to the next grant, only the part counts in which
 * a client asked for it, the store and all clients were well, and no other client may
 * have had it.
 */
final class Inheritance {

	private final Run run;

	private final Intervals troubles;

	Inheritance(Run run) {
		this.run = run;
		Intervals all = run.machine();
		for (Client client : run.clients()) {
			all = all.and(client.storeFaults()).and(client.pauses());
		}
		this.troubles = all;
	}

	void judge(Findings findings) {
		for (List<Attempt> attempts : this.run.byKeyLockedAlone().values()) {
			attempts.stream()
				.filter((attempt) -> attempt.isGranted() && Recovery.diedHolding(attempt))
				.forEach((dead) -> judge(dead, attempts, findings));
		}
	}

	private void judge(Attempt dead, List<Attempt> attempts, Findings findings) {
		long killed = dead.client().killed();
		long free = Math.max(killed + dead.lease(), dead.validUntil());
		long until = attempts.stream()
			.filter((attempt) -> attempt.isGranted() && attempt.returned() > killed)
			.mapToLong(Attempt::returned)
			.min()
			.orElse(attempts.stream().mapToLong(Attempt::end).max().orElse(free));
		long limit = this.run.limits().patience() + this.run.numberOfClients() * this.run.limits().turn();
		Intervals wanted = wanted(dead, attempts);
		long stayed = wanted.covered(free, until);
		long certain = wanted.coveredBesides(inTheWay(dead, attempts, until), free, until);
		if (findings.isJudged(Invariant.I8, stayed > limit && certain <= limit) && certain > limit) {
			findings.violation(Invariant.I8, until,
					"%s was killed, and its lock was kept from others for %.0f ms after its lease".formatted(dead,
							stayed / 1e6));
		}
	}

	private static Intervals wanted(Attempt dead, List<Attempt> attempts) {
		return Intervals.of(attempts.stream()
			.filter((attempt) -> attempt != dead)
			.map((attempt) -> new Interval(attempt.invoked(),
					(attempt.returned() != 0) ? attempt.returned() : attempt.client().last()))
			.toList());
	}

	private Intervals inTheWay(Attempt dead, List<Attempt> attempts, long until) {
		List<Interval> others = new ArrayList<>();
		attempts.stream()
			.filter((attempt) -> attempt != dead && attempt.invoked() < until)
			.flatMap((attempt) -> Occupation.of(attempt, this.run.limits()).stream())
			.filter((occupation) -> occupation.cause() != Occupation.Cause.LEFT && occupation.since() < until)
			.sorted(Comparator.comparingLong(Occupation::since))
			.forEach((occupation) -> others.add(new Interval(occupation.begun(), occupation.until())));
		return Intervals.of(others).and(this.troubles);
	}

}
