package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.LongStream;

import io.dlock.torture.Keys;

/**
 * I1: an exact sweep over the valid holds of each key. An exclusive hold is valid alone;
 * of permits no more are valid at a time than the highest number that one of them asked
 * for.
 * <p>
 * Each permit was granted at a moment at which fewer were held than its call asked for.
 * It is not known when between the request and the return of the call that was: the holds
 * that were valid at the quietest moment of that time count. A permit that is passed on
 * inside a process is not counted again.
 * <p>
 * A downgrade is one step of the store: no exclusive lock is granted between the one that
 * it ends and the shared one.
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
 * says it is valid, was followed by another too early. So was a reader that is valid
 * after a value has changed that it had read.
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
			judgeGrants(run, attempts.stream().filter(Exclusion::isPermit).toList(), findings);
		}
		judgeDowngrades(run, findings);
		run.attempts()
			.stream()
			.filter((attempt) -> attempt.changedUnder() != 0)
			.forEach((attempt) -> findings.violation(Invariant.I1, attempt.changedUnder(),
					attempt + " is valid but a value that it had read has changed"));
		run.attempts()
			.stream()
			.filter((attempt) -> attempt.rejected() != 0 && attempt.heldUntil() > attempt.rejected())
			.forEach((attempt) -> findings.violation(Invariant.I1, attempt.rejected(),
					attempt + " is valid but the resource has seen a higher token"));
	}

	private static void sweep(List<Attempt> holds, boolean notified, Findings findings) {
		List<Attempt> earlier = new ArrayList<>();
		for (Attempt hold : holds) {
			earlier.removeIf((other) -> end(other) < begin(hold));
			List<Attempt> beside = earlier.stream().filter((other) -> overlap(other, hold)).toList();
			beside.stream()
				.filter((other) -> hold.isExclusive() || other.isExclusive())
				.max(Comparator.comparingLong(Exclusion::end))
				.ifPresent((other) -> judge(other, hold, notified, findings));
			long places = beside.stream().mapToLong(Attempt::places).reduce(hold.places(), Math::max);
			if (beside.size() >= places && !hold.isExclusive()) {
				findings.violation(Invariant.I1, hold.heldFrom(), "%s is valid beside %d others for %d places: %s"
					.formatted(hold, beside.size(), places, beside));
			}
			if (Keys.isLimit(hold.key()) && beside.size() + 1 == places) {
				findings.permitsSeen();
			}
			else if (!hold.isExclusive() && beside.stream().anyMatch((other) -> isReaderOfOther(other, hold))) {
				findings.readersSeen();
			}
			earlier.add(hold);
		}
	}

	private static boolean isReaderOfOther(Attempt other, Attempt hold) {
		return !other.isExclusive() && !Keys.isLimit(hold.key()) && !other.client().equals(hold.client());
	}

	/**
	 * The exclusive lock with the highest token below that of the shared one is the last
	 * before it.
	 */
	private static void judgeDowngrades(Run run, Findings findings) {
		for (List<Attempt> attempts : run.byKey().values()) {
			NavigableMap<Long, Attempt> exclusive = new TreeMap<>();
			attempts.stream()
				.filter((attempt) -> attempt.isGranted() && attempt.isExclusive())
				.forEach((attempt) -> exclusive.put(attempt.token(), attempt));
			for (Attempt shared : attempts) {
				if (shared.isGranted() && shared.downgraded() != 0) {
					Map.Entry<Long, Attempt> last = exclusive.lowerEntry(shared.token());
					if (last != null && !isDowngrade(last.getValue(), shared)) {
						findings.violation(Invariant.I1, shared.returned(),
								"%s was granted before the downgrade to %s".formatted(last.getValue(), shared));
					}
				}
			}
		}
	}

	private static boolean isDowngrade(Attempt exclusive, Attempt shared) {
		return exclusive.client().equals(shared.client()) && exclusive.number() == shared.downgraded();
	}

	private static boolean isPermit(Attempt attempt) {
		return attempt.isGranted() && Keys.isLimit(attempt.key());
	}

	private static void judgeGrants(Run run, List<Attempt> permits, Findings findings) {
		List<Attempt> holds = permits.stream()
			.filter((permit) -> permit.heldFrom() != 0 && permit.heldFrom() <= permit.heldUntil())
			.sorted(Comparator.comparingLong(Attempt::heldFrom))
			.toList();
		List<Attempt> near = new ArrayList<>();
		int begun = 0;
		for (Attempt permit : permits.stream()
			.filter(run.limits()::isGrantOfStore)
			.sorted(Comparator.comparingLong((grant) -> Tokens.grantedSince(run, grant)))
			.toList()) {
			long since = Tokens.grantedSince(run, permit);
			while (begun < holds.size() && holds.get(begun).heldFrom() <= permit.returned()) {
				near.add(holds.get(begun++));
			}
			near.removeIf((hold) -> hold.heldUntil() < since);
			List<Attempt> others = near.stream().filter((hold) -> hold != permit).toList();
			long held = fewest(others, since, permit.returned());
			if (held >= permit.places()) {
				findings.violation(Invariant.I1, permit.returned(), "%s was granted for %d places beside %d others: %s"
					.formatted(permit, permit.places(), held, others));
			}
		}
	}

	/**
	 * The smallest number of holds that are valid at one moment of a time: that is its
	 * begin, or follows the end of a hold.
	 */
	private static long fewest(List<Attempt> holds, long from, long to) {
		return LongStream.concat(LongStream.of(from), holds.stream().mapToLong((hold) -> hold.heldUntil() + 1))
			.filter((moment) -> moment >= from && moment <= to)
			.map((moment) -> holds.stream()
				.filter((hold) -> hold.heldFrom() <= moment && moment <= hold.heldUntil())
				.count())
			.min()
			.orElse(0);
	}

	private static void judge(Attempt earlier, Attempt later, boolean notified, Findings findings) {
		long from = Math.max(earlier.heldFrom(), begin(later));
		long to = Math.min(earlier.heldUntil(), end(later));
		if (notified || bothRun(earlier, later, from, to)) {
			findings.violation(Invariant.I1, later.heldFrom(),
					"%s and %s are both valid for %.3f ms".formatted(earlier, later, (to - from) / 1e6));
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
