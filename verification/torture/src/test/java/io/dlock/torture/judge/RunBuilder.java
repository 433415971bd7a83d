package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryHeader;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.judge.Intervals.Interval;

/**
 * Makes up runs. Times are in milliseconds; leases last 1000, commands 100, polls 100.
 */
final class RunBuilder {

	static final long LEASE = 1000;

	private static final long MS = 1_000_000;

	private final List<String> timeline = new ArrayList<>();

	private final Map<Integer, Client> clients = new LinkedHashMap<>();

	private final List<AttemptBuilder> attempts = new ArrayList<>();

	private final List<HistoryRecord> resource = new ArrayList<>();

	private final List<Trouble> troubles = new ArrayList<>();

	private final List<Run.Check> checks = new ArrayList<>();

	private final List<String> missing = new ArrayList<>();

	private final Map<Integer, Long> killed = new LinkedHashMap<>();

	private final List<Interval> slow = new ArrayList<>();

	private final List<Interval> stalls = new ArrayList<>();

	private final List<Interval> waits = new ArrayList<>();

	private long tokensPerLease = 1;

	private long commandTimeout = 100;

	private long end = 100_000;

	private final Map<String, String> options = new LinkedHashMap<>();

	/**
	 * Each fault comes once.
	 */
	RunBuilder brief() {
		return option("duration", "PT0S");
	}

	/**
	 * Only the first token of each so many is granted by the store.
	 */
	RunBuilder tokensPerLease(long tokens) {
		this.tokensPerLease = tokens;
		return this;
	}

	RunBuilder store(String store) {
		return option("store", store);
	}

	RunBuilder option(String name, String value) {
		this.options.put(name, value);
		return this;
	}

	RunBuilder commandTimeout(long millis) {
		this.commandTimeout = millis;
		return this;
	}

	RunBuilder clockStep(long from, long to, long amount) {
		fault(from, to, "F18", "store");
		int started = this.timeline.size() - 2;
		this.timeline.set(started, this.timeline.get(started) + " amount=" + amount);
		return this;
	}

	/**
	 * The clock of a client is set forward, and back again.
	 */
	RunBuilder clientClockStep(long from, long to, int client, long amount) {
		this.timeline.add("%d START F20 client-%d clock-step #%d tier=S amount=%d".formatted(from * MS, client,
				this.timeline.size(), amount));
		this.timeline.add("%d END F20 client-%d clock-step #%d".formatted(to * MS, client, this.timeline.size() - 1));
		return this;
	}

	RunBuilder fault(long from, long to, String fault, String target) {
		this.timeline.add((from * MS) + " START " + fault + " " + target + " #" + this.timeline.size());
		this.timeline.add((to * MS) + " END " + fault + " " + target + " #" + (this.timeline.size() - 1));
		return this;
	}

	/**
	 * Locking is possible again before the last fault ends.
	 */
	RunBuilder restored(long at) {
		String[] end = this.timeline.get(this.timeline.size() - 1).split(" ", 3);
		this.timeline.add(this.timeline.size() - 1, (at * MS) + " RESTORED " + end[2]);
		return this;
	}

	/**
	 * The machine is slow.
	 */
	RunBuilder slow(long from, long to) {
		this.slow.add(new Interval(from * MS, to * MS));
		return this;
	}

	/**
	 * A thread of each client waited for a processor, at some time.
	 */
	RunBuilder waited(long from, long to, long waited) {
		this.stalls.add(new Interval(from * MS, to * MS));
		this.waits.add(new Interval((to - waited) * MS, to * MS));
		return this;
	}

	RunBuilder killed(int client, long at) {
		this.killed.put(client, at * MS);
		return this;
	}

	RunBuilder fine(String invariant) {
		this.checks.add(new Run.Check(invariant, true, "all is well"));
		return this;
	}

	RunBuilder missing(String what) {
		this.missing.add(what);
		return this;
	}

	RunBuilder check(String invariant, String text) {
		this.checks.add(new Run.Check(invariant, false, text));
		return this;
	}

	/**
	 * A call of the first client that might wait for two leases.
	 */
	RunBuilder trouble(long from, long to, Event event) {
		return trouble(from, to, event, "a lock");
	}

	RunBuilder trouble(long from, long to, Event event, String text) {
		this.troubles.addAll(Trouble
			.of("TROUBLE client-0-0 %d %d %d %s %s".formatted(from * MS, to * MS, 2 * LEASE * MS, event, text)));
		return this;
	}

	RunBuilder resource(long nanos, int client, Event event, long token, long value) {
		return resource(nanos, client, 0, event, token, value, 0);
	}

	RunBuilder resource(long nanos, int client, int key, Event event, long token, long value, long other) {
		this.resource.add(HistoryRecord.of(nanos * MS, new Origin(client, 0, 0, key), event)
			.withToken(token)
			.withValue(value)
			.withOther(other));
		return this;
	}

	/**
	 * A fenced write of the holder of a lock.
	 */
	RunBuilder resource(long nanos, AttemptBuilder holder, long token, long value) {
		this.resource
			.add(HistoryRecord.of(nanos * MS, holder.origin, Event.FENCED_WRITE).withToken(token).withValue(value));
		return this;
	}

	AttemptBuilder attempt(int client, int key, long invoked) {
		AttemptBuilder attempt = new AttemptBuilder(client, key, invoked);
		this.attempts.add(attempt);
		return attempt;
	}

	Verdict judge() {
		Timeline read = Timeline.parse(this.timeline);
		List<Attempt> built = this.attempts.stream()
			.map((attempt) -> attempt.build(this.clients.computeIfAbsent(attempt.client, (n) -> client(n, read))))
			.sorted(Comparator.comparingLong(Attempt::invoked))
			.toList();
		if (!this.troubles.isEmpty()) {
			this.clients.computeIfAbsent(0, (n) -> client(n, read));
		}
		return Judge.judge(new Run(
				new Run.Limits(LEASE * MS, this.commandTimeout * MS, 100 * MS, true, true, this.tokensPerLease,
						Judge.SLACK.toNanos()),
				List.copyOf(this.clients.values()), built, this.resource, read, this.troubles, this.checks,
				this.missing, this.options, List.of(), Intervals.of(this.slow)));
	}

	List<Invariant> broken() {
		Verdict verdict = judge();
		return Arrays.stream(Invariant.values()).filter((invariant) -> verdict.counts().get(invariant) > 0).toList();
	}

	private Client client(int number, Timeline read) {
		long died = this.killed.getOrDefault(number, 0L);
		return new Client(new HistoryHeader(number, 0, 1, LEASE * MS, 100 * MS, 100 * MS, true, true),
				(died != 0) ? died : this.end * MS, died,
				read.pauses(number).and(Intervals.of(this.slow)).and(Intervals.of(this.stalls)),
				read.pauses(number).and(Intervals.of(this.slow)).and(Intervals.of(this.waits)),
				read.harmfulFaults(number).extended(400 * MS), read.storeFaults(number).extended(400 * MS),
				read.clocks(number));
	}

	/**
	 * Makes up an attempt.
	 */
	final class AttemptBuilder {

		private final int client;

		private final Origin origin;

		private final List<HistoryRecord> records = new ArrayList<>();

		private boolean renewed;

		private AttemptBuilder(int client, int key, long invoked) {
			this.client = client;
			this.origin = new Origin(client, 0, RunBuilder.this.attempts.size() + 1, key);
			this.records.add(record(invoked, Event.INVOKE).withValue(2000 * MS).withOther(LEASE * MS));
		}

		AttemptBuilder renewed() {
			this.renewed = true;
			this.records.set(0, this.records.get(0).withRenewed(true));
			return this;
		}

		AttemptBuilder waiting(long waitLimit) {
			this.records.set(0, this.records.get(0).withValue(waitLimit * MS));
			return this;
		}

		AttemptBuilder lease(long lease) {
			this.records.set(0, this.records.get(0).withOther(lease * MS));
			return this;
		}

		/**
		 * It acquired the lock again, or tried to.
		 */
		AttemptBuilder nested(long at, Event event, long token, long took) {
			this.records.add(record(at, event).withToken(token).withValue(took * MS));
			return this;
		}

		/**
		 * As many calls may hold the key at the same time.
		 */
		AttemptBuilder places(int places) {
			this.records.add(record(0, Event.PLACES).withValue(places));
			return this;
		}

		/**
		 * The call turns the lock of an earlier attempt into a shared one.
		 */
		AttemptBuilder downgrade(AttemptBuilder exclusive) {
			this.records.add(record(0, Event.DOWNGRADE).withValue(exclusive.origin.attempt()));
			return waiting(0).places(Integer.MAX_VALUE);
		}

		AttemptBuilder granted(long at, long token) {
			this.records.add(record(at, Event.GRANTED).withToken(token));
			return this;
		}

		/**
		 * The lock was granted by a store, and its deadline was known then.
		 */
		AttemptBuilder granted(long at, long token, long validUntil) {
			this.records.add(record(at, Event.GRANTED).withToken(token).withValidUntil(validUntil * MS));
			return this;
		}

		/**
		 * The lock was found lost by a holder that had not asked since before its
		 * deadline.
		 */
		AttemptBuilder foundLost(long at, long deadline) {
			this.records.add(record(at, Event.FOUND_LOST).withValidUntil(deadline * MS));
			return this;
		}

		/**
		 * It was held and said so, for the last time when its deadline was still to come.
		 */
		AttemptBuilder held(long from, long until, long token, long validUntil) {
			this.records.add(record(from, Event.HELD).withToken(token)
				.withOther(until * MS)
				.withValidUntil(validUntil * MS)
				.withRenewed(this.renewed));
			return this;
		}

		/**
		 * It read a value twice.
		 */
		AttemptBuilder read(long at, long before, long after) {
			this.records.add(record(at, Event.SHARED_READ).withValue(before).withOther(after));
			return this;
		}

		AttemptBuilder then(long at, Event event) {
			this.records.add(record(at, event));
			return this;
		}

		AttemptBuilder then(long at, Event event, long token) {
			this.records.add(record(at, event).withToken(token));
			return this;
		}

		RunBuilder released(long at) {
			then(at, Event.RELEASE_SENT);
			return then(at + 2, Event.RELEASED).and();
		}

		RunBuilder and() {
			return RunBuilder.this;
		}

		private HistoryRecord record(long at, Event event) {
			return HistoryRecord.of(at * MS, this.origin, event);
		}

		private Attempt build(Client of) {
			Attempt attempt = new Attempt(of, this.records.get(0));
			this.records.forEach(attempt::add);
			return attempt;
		}

	}

}
