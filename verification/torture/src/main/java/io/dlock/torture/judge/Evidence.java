package io.dlock.torture.judge;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The other events about the time of a violation, to find its cause without the files of
 * the run: they are gone when a machine of a CI service is.
 */
public final class Evidence {

	private static final Pattern KEY = Pattern.compile(" key (\\d+)");

	private static final long BEFORE = Duration.ofSeconds(3).toNanos();

	private static final long AFTER = Duration.ofMillis(500).toNanos();

	private static final int VIOLATIONS = 5;

	private static final int LINES = 60;

	private Evidence() {
	}

	/**
	 * For the first of the violations, the nearest attempts on the same key and faults,
	 * in their order; times in milliseconds before and after the violation.
	 * @param directory the directory of the run
	 * @param verdict its verdict
	 * @return some lines
	 */
	public static List<String> of(Path directory, Verdict verdict) {
		Run run = new RunReader(directory, Judge.SLACK.toNanos()).read();
		return verdict.violations().stream().limit(VIOLATIONS).flatMap((violation) -> around(run, violation)).toList();
	}

	private static Stream<String> around(Run run, Violation violation) {
		List<Moment> moments = new ArrayList<>();
		Matcher key = KEY.matcher(violation.text());
		if (key.find()) {
			run.byKey().getOrDefault(Integer.valueOf(key.group(1)), List.of()).forEach((attempt) -> {
				if (isNear(attempt.invoked(), attempt.end(), violation.nanos())) {
					moments.add(moment(attempt, violation.nanos()));
				}
			});
		}
		for (Client client : run.clients()) {
			add(moments, client + " did not run", client.pauses(), violation.nanos());
			add(moments, client + " has no store", client.storeFaults(), violation.nanos());
		}
		return Stream.concat(Stream.of(violation.invariant() + " " + violation.text()),
				moments.stream()
					.sorted(Comparator.comparingLong((moment) -> Math.abs(moment.nanos() - violation.nanos())))
					.limit(LINES)
					.sorted(Comparator.comparingLong(Moment::nanos))
					.map((moment) -> "  " + moment.text()));
	}

	private static void add(List<Moment> moments, String what, Intervals times, long nanos) {
		times.all().stream().filter((time) -> isNear(time.from(), time.to(), nanos)).forEach((time) -> {
			String text = "%s from %s to %s".formatted(what, at(time.from(), nanos), at(time.to(), nanos));
			moments.add(new Moment(time.from(), text));
		});
	}

	private static boolean isNear(long from, long to, long nanos) {
		return from < nanos + AFTER && to > nanos - BEFORE;
	}

	private static Moment moment(Attempt attempt, long nanos) {
		return new Moment(attempt.invoked(),
				"%s: called at %s, may wait %.0f ms, %s at %s, lost at %s, %s from %s to %s".formatted(attempt,
						at(attempt.invoked(), nanos), attempt.waitLimit() / 1e6, attempt.outcome(),
						at(attempt.returned(), nanos), at(attempt.isLost() ? attempt.lossKnown() : 0, nanos),
						attempt.release(), at(attempt.releaseSent(), nanos), at(attempt.released(), nanos)));
	}

	private static String at(long time, long nanos) {
		return (time != 0) ? "%+.1f".formatted((time - nanos) / 1e6) : "-";
	}

	/**
	 * A line of the evidence.
	 *
	 * @param nanos when it began
	 * @param text what
	 */
	private record Moment(long nanos, String text) {

	}

}
