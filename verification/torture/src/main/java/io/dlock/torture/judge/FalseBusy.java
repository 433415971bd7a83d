package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

/**
 * I10 of the keys that are only tried and never waited for: a call that is told that such
 * a key is busy must have met a holder of it, or a client that may have held it, at some
 * time of the call, or of a call of another thread of its process that was under way when
 * it began, and whose answer may be the answer to both. The refusal of such a call is no
 * reason.
 */
final class FalseBusy {

	private FalseBusy() {
	}

	static void judge(Run run, Findings findings) {
		run.byKey().forEach((key, attempts) -> {
			if (Keys.isPolled(key)) {
				judgeKey(run, attempts, findings);
			}
		});
	}

	private static void judgeKey(Run run, List<Attempt> attempts, Findings findings) {
		List<Occupation> occupations = Occupation.ofAll(attempts, run.limits())
			.stream()
			.sorted(Comparator.comparingLong(Occupation::begun))
			.toList();
		List<Attempt> refused = attempts.stream()
			.filter((attempt) -> attempt.outcome() == Event.REFUSED)
			.sorted(Comparator.comparingLong(Attempt::returned))
			.toList();
		Map<Attempt, Long> begins = begins(attempts);
		long occupied = Long.MIN_VALUE;
		int next = 0;
		for (Attempt attempt : refused) {
			while (next < occupations.size() && occupations.get(next).begun() <= attempt.returned()) {
				occupied = Math.max(occupied, occupations.get(next++).until());
			}
			// such a call may have taken the lock itself
			boolean excused = attempt.client().storeFaults().intersects(attempt.invoked(), attempt.returned());
			if (findings.isJudged(Invariant.I10, excused)
					&& occupied < begins.getOrDefault(attempt, attempt.invoked())) {
				findings.violation(Invariant.I10, attempt.returned(),
						attempt + " was told busy but no client had the key" + ((occupied != Long.MIN_VALUE)
								? " for %.1f ms".formatted((attempt.invoked() - occupied) / 1e6) : ""));
			}
		}
	}

	/**
	 * The begin of the earliest call of the process that was under way when a call began,
	 * or of that call itself.
	 */
	private static Map<Attempt, Long> begins(List<Attempt> byBegin) {
		Map<Attempt, Long> begins = new HashMap<>();
		Map<Client, List<Attempt>> underWay = new HashMap<>();
		for (Attempt attempt : byBegin) {
			List<Attempt> others = underWay.computeIfAbsent(attempt.client(), (client) -> new ArrayList<>());
			others.removeIf((other) -> other.returned() != 0 && other.returned() < attempt.invoked());
			others.add(attempt);
			begins.put(attempt, others.stream().mapToLong(Attempt::invoked).min().orElse(attempt.invoked()));
		}
		return begins;
	}

}
