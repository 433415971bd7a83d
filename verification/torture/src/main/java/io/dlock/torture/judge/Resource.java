package io.dlock.torture.judge;

import java.util.HashMap;
import java.util.Map;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;

/**
 * I2 and I5: the writes that the resource accepted, and their effect.
 */
final class Resource {

	private static final long CALLS_PER_CLIENT = 1_000_000_000_000L;

	private Resource() {
	}

	static void judge(Run run, Findings findings) {
		Map<Integer, Long> highest = new HashMap<>();
		Map<Integer, Long> highestExclusive = new HashMap<>();
		Map<Integer, Long> counters = new HashMap<>();
		for (HistoryRecord entry : run.resource()) {
			if (entry.event() == Event.FENCED_READ || entry.event() == Event.FENCED_WRITE
					|| entry.event() == Event.TRANSFER) {
				judgeToken(entry, highest.getOrDefault(entry.key(), 0L), findings);
				highest.merge(entry.key(), entry.token(), Math::max);
				highestExclusive.merge(entry.key(), entry.token(), Math::max);
			}
			else if (entry.event() == Event.SHARED_READ) {
				judgeToken(entry, highestExclusive.getOrDefault(entry.key(), 0L), findings);
				highest.merge(entry.key(), entry.token(), Math::max);
			}
			else if (entry.event() == Event.FENCED_REJECTED && entry.token() >= highest.getOrDefault(entry.key(), 0L)) {
				findings.violation(Invariant.I2, entry.nanos(),
						"Token " + entry.token() + " of key " + entry.key() + " was rejected but is the highest");
			}
			if (entry.event() == Event.FENCED_WRITE) {
				findings.judged(Invariant.I5);
				long before = counters.getOrDefault(entry.key(), 0L);
				if (entry.value() != before + 1) {
					findings.violation(Invariant.I5, entry.nanos(), "Client %d wrote %d to key %d, which was %d"
						.formatted(entry.client(), entry.value(), entry.key(), before));
				}
				counters.put(entry.key(), entry.value());
			}
		}
		judgeAcknowledged(run, counters, findings);
		judgeOwners(run, findings);
		if (run.limits().fenced()) {
			judgeTransfers(run, findings);
		}
	}

	private static void judgeTransfers(Run run, Findings findings) {
		Map<Integer, Long> balances = new HashMap<>();
		for (HistoryRecord entry : run.resource()) {
			if (entry.event() == Event.TRANSFER) {
				findings.judged(Invariant.I17);
				long before = balances.getOrDefault(entry.key(), 0L);
				if (entry.value() != before + entry.other()) {
					findings.violation(Invariant.I17, entry.nanos(),
							"Client %d left %d on account %d, which had %d and received %d".formatted(entry.client(),
									entry.value(), entry.key(), before, entry.other()));
				}
				balances.put(entry.key(), entry.value());
			}
		}
	}

	private static void judgeToken(HistoryRecord entry, long highest, Findings findings) {
		findings.judged(Invariant.I2);
		if (entry.token() < highest) {
			findings.violation(Invariant.I2, entry.nanos(), "Client %d used token %d of key %d after %d"
				.formatted(entry.client(), entry.token(), entry.key(), highest));
		}
	}

	/**
	 * A holder uses the token that it was granted, also when the lock is lost and the
	 * client has it again.
	 */
	private static void judgeOwners(Run run, Findings findings) {
		Map<Long, Attempt> owners = new HashMap<>();
		run.attempts()
			.stream()
			.filter(Attempt::isGranted)
			.forEach((grant) -> owners.put(call(grant.client().header().client(), grant.number()), grant));
		for (HistoryRecord entry : run.resource()) {
			Attempt grant = owners.get(call(entry.client(), entry.attempt()));
			if (grant != null && grant.returned() <= entry.nanos() && grant.key() == entry.key() && entry.token() != 0
					&& grant.token() != entry.token()) {
				findings.violation(Invariant.I4, entry.nanos(),
						"%s used token %d at the resource".formatted(grant, entry.token()));
			}
		}
	}

	private static long call(int client, long attempt) {
		return client * CALLS_PER_CLIENT + attempt;
	}

	/**
	 * A write that was acknowledged is counted.
	 */
	private static void judgeAcknowledged(Run run, Map<Integer, Long> counters, Findings findings) {
		Map<Integer, Long> acknowledged = new HashMap<>();
		run.attempts().forEach((attempt) -> acknowledged.merge(attempt.key(), attempt.fencedWrites(), Long::sum));
		acknowledged.forEach((key, writes) -> {
			long counted = counters.getOrDefault(key, 0L);
			if (counted < writes) {
				findings.violation(Invariant.I5, 0,
						"%d writes to key %d were acknowledged but %d are counted".formatted(writes, key, counted));
			}
		});
	}

	static long unfencedUpdates(Run run) {
		return run.resource().stream().filter((entry) -> entry.event() == Event.UNFENCED_WRITE).count();
	}

	/**
	 * Each update adds one, so what is missing in the end was overwritten.
	 */
	static long unfencedUpdatesLost(Run run) {
		Map<Integer, Long> last = new HashMap<>();
		run.resource()
			.stream()
			.filter((entry) -> entry.event() == Event.UNFENCED_WRITE)
			.forEach((entry) -> last.put(entry.key(), entry.value()));
		return unfencedUpdates(run) - last.values().stream().mapToLong(Long::longValue).sum();
	}

}
