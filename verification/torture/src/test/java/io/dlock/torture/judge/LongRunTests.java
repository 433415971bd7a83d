package io.dlock.torture.judge;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryHeader;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.judge.Intervals.Interval;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A campaign of an hour is judged in seconds: what the judge does for each attempt must
 * not depend on how many others there are.
 */
class LongRunTests {

	private static final long MS = 1_000_000;

	private static final int FEW = 30_000;

	/** With ten times as many attempts, a pair of loops takes a hundred times as long. */
	private static final int MANY = 10 * FEW;

	private static final int LONGEST = 30;

	private static final int KEYS = 4;

	private static final int ATTEMPTS_PER_FAULT = 500;

	private final SplittableRandom random = new SplittableRandom(1);

	@Test
	void timeOfTheJudgeGrowsWithTheNumberOfAttempts() {
		judge(FEW);
		assertThat(judge(MANY)).isLessThan(LONGEST * judge(FEW));
	}

	/**
	 * Judge a run.
	 * @return the time of the processor in nanoseconds
	 */
	private long judge(int count) {
		long length = (long) count / KEYS * 10;
		Timeline timeline = Timeline.parse(faults(length, count / ATTEMPTS_PER_FAULT));
		List<Client> clients = List.of(client(0, length, timeline), client(1, length, timeline),
				client(2, length, timeline), client(3, length, timeline));
		List<HistoryRecord> resource = new ArrayList<>();
		Attempt[] attempts = new Attempt[count];
		for (int i = 0; i < count; i++) {
			attempts[i] = attempt(i, clients.get(this.random.nextInt(clients.size())), resource);
		}
		Arrays.sort(attempts, (one, other) -> Long.compare(one.invoked(), other.invoked()));
		Run run = new Run(new Run.Limits(1000 * MS, 100 * MS, 100 * MS, true, true, 1024, Judge.SLACK.toNanos()),
				clients, Arrays.asList(attempts), resource, timeline, List.of(), List.of(), List.of(), Map.of(),
				List.of(), Intervals.NONE);
		long begin = cpuTime();
		Verdict verdict = Judge.judge(run);
		long time = cpuTime() - begin;
		assertThat(verdict.figures().cycles()).isEqualTo(count);
		return time;
	}

	/**
	 * The work of other processes does not count.
	 */
	private static long cpuTime() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	/**
	 * The lock of each key goes from one to the next every 10 ms, and each had waited for
	 * two seconds: two hundred wait at any time.
	 */
	private Attempt attempt(int number, Client client, List<HistoryRecord> resource) {
		int key = number % KEYS;
		long granted = 3000 + (long) (number / KEYS) * 10;
		long token = (number / KEYS + 1L) * 1024;
		Origin origin = new Origin(client.header().client(), number % 8, number, key);
		Attempt attempt = new Attempt(client, HistoryRecord.of(0, origin, Event.INVOKE));
		attempt.add(HistoryRecord.of((granted - 2000) * MS + number, origin, Event.INVOKE)
			.withValue(5000 * MS)
			.withOther(1000 * MS));
		attempt.add(HistoryRecord.of(granted * MS, origin, Event.GRANTED).withToken(token));
		attempt.add(HistoryRecord.of(granted * MS + 1000, origin, Event.HELD)
			.withToken(token)
			.withOther((granted + 8) * MS)
			.withValidUntil((granted + 990) * MS));
		attempt.add(HistoryRecord.of((granted + 8) * MS + 1000, origin, Event.RELEASE_SENT));
		attempt.add(HistoryRecord.of((granted + 9) * MS, origin, Event.RELEASED));
		resource.add(HistoryRecord.of(granted * MS, origin, Event.FENCED_WRITE)
			.withToken(token)
			.withValue(number / KEYS + 1));
		return attempt;
	}

	private List<String> faults(long length, int count) {
		List<String> lines = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			long at = length * i / count;
			String target = List.of("store", "link-0", "link-1", "client-2").get(i % 4);
			String fault = target.startsWith("client") ? "F1" : "F9";
			lines.add("%d START %s %s #%d".formatted(at * MS, fault, target, i));
			lines.add("%d END %s %s #%d".formatted((at + 300) * MS, fault, target, i));
		}
		return lines;
	}

	/**
	 * On a busy machine a process notices many short stalls.
	 */
	private Client client(int number, long length, Timeline timeline) {
		List<Interval> stalls = new ArrayList<>();
		for (long at = 0; at < length; at += 200) {
			stalls.add(new Interval(at * MS, (at + 15) * MS));
		}
		return new Client(new HistoryHeader(number, 0, 1, 1000 * MS, 100 * MS, 100 * MS, true, true), length * MS, 0,
				timeline.pauses(number).and(Intervals.of(stalls)), timeline.pauses(number).and(Intervals.of(stalls)),
				timeline.faults(number).extended(400 * MS), timeline.storeFaults(number).extended(400 * MS),
				Intervals.NONE);
	}

}
