package io.dlock.torture.judge;

import java.util.Comparator;
import java.util.List;

/**
 * I1: an exact sweep over the valid holds of each key.
 * <p>
 * <strong>What a valid hold is.</strong> A handle is never valid again once it was not,
 * so it was valid at all times from the end of its first check that said so to the begin
 * of its last. Nothing is assumed beyond: not that it was valid when the call returned,
 * because the process may have been stopped before the client could write that down, and
 * not that it was valid up to the deadline it had published. A hold that was checked once
 * was valid at some moment of that check, and overlaps a hold that was valid during all
 * of it. A pause between two checks does not matter: if the handle says afterwards that
 * it is valid, it claims to have been.
 * <p>
 * The resource is a second witness: a hold whose token it rejected, and which then still
 * says it is valid, was followed by another too early.
 */
final class Exclusion {

	private Exclusion() {
	}

	static void judge(Run run, Findings findings) {
		for (List<Attempt> attempts : run.byKey().values()) {
			attempts.stream().filter((hold) -> hold.heldFrom() != 0).forEach((hold) -> findings.judged(Invariant.I1));
			sweep(attempts.stream()
				.filter((attempt) -> attempt.heldFrom() != 0)
				.sorted(Comparator.comparingLong(Exclusion::begin))
				.toList(), run.limits().notified(), findings);
		}
		run.attempts()
			.stream()
			.filter((attempt) -> attempt.rejected() != 0 && attempt.heldUntil() > attempt.rejected())
			.forEach((attempt) -> findings.violation(Invariant.I1, attempt.rejected(),
					attempt + " is valid but the resource has seen a higher token"));
	}

	/**
	 * All that begin while the one that lasts longest still lasts overlap it.
	 */
	private static void sweep(List<Attempt> holds, boolean notified, Findings findings) {
		Attempt longest = null;
		for (Attempt hold : holds) {
			if (longest != null && overlap(longest, hold)) {
				long from = Math.max(longest.heldFrom(), begin(hold));
				long to = Math.min(longest.heldUntil(), end(hold));
				if (notified || bothRun(longest, hold, from, to)) {
					findings.violation(Invariant.I1, hold.heldFrom(),
							"%s and %s are both valid for %.3f ms".formatted(longest, hold, (to - from) / 1e6));
				}
			}
			if (longest == null || end(hold) > end(longest)) {
				longest = hold;
			}
		}
	}

	private static boolean bothRun(Attempt one, Attempt other, long from, long to) {
		return one.client().pauses().and(other.client().pauses()).covered(from, to) < to - from;
	}

	/**
	 * Of one that begins earlier, or at least not later.
	 */
	private static boolean overlap(Attempt earlier, Attempt later) {
		boolean lasting = earlier.heldFrom() <= earlier.heldUntil();
		boolean within = isMoment(later) ? begin(later) >= earlier.heldFrom() && later.heldFrom() <= earlier.heldUntil()
				: later.heldFrom() < earlier.heldUntil();
		return lasting && within;
	}

	/** Checked once, at some moment from the begin to the end of the check. */
	private static boolean isMoment(Attempt hold) {
		return hold.heldUntil() <= hold.heldFrom();
	}

	private static long begin(Attempt hold) {
		return Math.min(hold.heldFrom(), hold.heldUntil());
	}

	private static long end(Attempt hold) {
		return isMoment(hold) ? begin(hold) : hold.heldUntil();
	}

}
