package io.dlock.torture.judge;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

import io.dlock.torture.judge.Intervals.Interval;
import io.dlock.torture.judge.TimelineEvent.Kind;

/**
 * The actions of the nemesis.
 *
 * @param events its events in order
 */
record Timeline(List<TimelineEvent> events) {

	/** A process does not run. */
	private static final Set<String> STOPS = Set.of("F1", "F2");

	/**
	 * Faults of client processes: the store and the way to it are well. Messages that do
	 * not arrive cost time and nothing else.
	 */
	private static final Set<String> OF_CLIENTS = Set.of("F1", "F3", "F20", "F26", "F27", "F28b", "F29", "F30", "F34");

	/**
	 * Faults of client processes that cost them nothing but time: a load that the locks
	 * have to bear.
	 */
	private static final Set<String> HARMLESS = Set.of("F27", "F28b", "F30", "F34");

	/**
	 * Faults after which the store may have forgotten locks, or has those of another. The
	 * restarts are those of a database, which cannot tell them from a lost disk.
	 */
	private static final Set<String> FORGETTING = Set.of("F4", "F5", "F14", "F15", "F16", "F17", "F19", "F21", "F35");

	/** Other faults with its number forget nothing. */
	private static final String PROMOTION = "promote-standby";

	private static final String BUSY_MACHINE = "F28";

	private static final String STORE_CLOCK = "F18";

	private static final String CLIENT_CLOCK = "F20";

	private static final String CLOCK_STEP = "clock-step ";

	/**
	 * Read a timeline.
	 * @return the timeline, empty if there is no file
	 */
	static Timeline read(Path file) {
		try {
			return Files.exists(file) ? parse(Files.readAllLines(file)) : new Timeline(List.of());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static Timeline parse(List<String> lines) {
		return new Timeline(lines.stream()
			.filter((line) -> !line.isBlank() && Character.isDigit(line.charAt(0)))
			.map(TimelineEvent::parse)
			.toList());
	}

	/**
	 * When a process was stopped.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals pauses(int client) {
		return windows((event) -> event.isOf("client-", client) && STOPS.contains(event.fault()));
	}

	/**
	 * When the clock of a process was turned.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals clocks(int client) {
		return windows((event) -> event.fault().equals(CLIENT_CLOCK) && event.concerns(client));
	}

	/**
	 * The steps forward of the clock of a process, each shortly after its time. Not those
	 * that end a step back: it is not known how long before its time they were.
	 * @param client the number of the client
	 * @return the beginnings of the steps
	 */
	List<TimelineEvent> clockSteps(int client) {
		return this.events.stream()
			.filter((event) -> event.kind() == Kind.START && event.fault().equals(CLIENT_CLOCK)
					&& event.concerns(client) && event.text().startsWith(CLOCK_STEP) && event.amount() > 0)
			.toList();
	}

	/**
	 * How often a process was stopped.
	 */
	long stops() {
		return this.events.stream()
			.filter((event) -> event.kind() == Kind.START && STOPS.contains(event.fault()))
			.count();
	}

	/**
	 * When the store, or a client's way to it, was not well.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals storeFaults(int client) {
		return windows((event) -> !OF_CLIENTS.contains(event.fault()) && event.concerns(client));
	}

	/**
	 * The times in which no client could use the store.
	 * @return the times
	 */
	Intervals outages() {
		return windows((event) -> !OF_CLIENTS.contains(event.fault()) && !event.fault().equals(BUSY_MACHINE)
				&& !event.isOfOne());
	}

	/**
	 * The times in which the store may have forgotten locks, and may grant none because
	 * of that: such a fault ends with the quarantine.
	 * @return the times
	 */
	Intervals quarantines() {
		return windows((event) -> FORGETTING.contains(event.fault()) || event.text().startsWith(PROMOTION));
	}

	/**
	 * When a client suffered from something that others did not.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals ownFaults(int client) {
		return windows((event) -> event.isOfOne() && event.concerns(client));
	}

	/**
	 * When a client was under any fault, of its own or of the store.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals faults(int client) {
		return windows((event) -> event.concerns(client));
	}

	/**
	 * When a client was under a fault that may cost it a lock.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals harmfulFaults(int client) {
		return windows((event) -> !HARMLESS.contains(event.fault()) && event.concerns(client));
	}

	/**
	 * The times from the begin of a fault to its end, or to when everything was healed.
	 */
	private Intervals windows(Predicate<TimelineEvent> chosen) {
		List<Interval> windows = new ArrayList<>();
		Map<String, Long> open = new HashMap<>();
		long last = 0;
		for (TimelineEvent event : this.events) {
			last = event.nanos();
			if (event.kind() == Kind.START && chosen.test(event)) {
				open.putIfAbsent(event.name(), event.nanos());
			}
			else if (event.kind() == Kind.KILL) {
				// until then the client was well
				open.computeIfPresent(event.name(), (name, begin) -> event.nanos());
			}
			else if (event.kind() == Kind.END) {
				Long begin = open.remove(event.name());
				if (begin != null) {
					windows.add(new Interval(begin, event.nanos()));
				}
			}
			else if (event.kind() == Kind.HEAL) {
				open.values().forEach((begin) -> windows.add(new Interval(begin, event.nanos())));
				open.clear();
			}
		}
		long end = last;
		open.values().forEach((begin) -> windows.add(new Interval(begin, end)));
		return Intervals.of(windows);
	}

	/**
	 * When a client was killed.
	 * @param client the number of the client
	 * @return the times
	 */
	List<Long> kills(int client) {
		// the timelines of the first campaigns only have the begin of the fault
		Kind kill = this.events.stream().anyMatch((event) -> event.kind() == Kind.KILL) ? Kind.KILL : Kind.START;
		return this.events.stream()
			.filter((event) -> event.kind() == kill && event.fault().equals("F3") && event.isOf("client-", client))
			.map(TimelineEvent::nanos)
			.toList();
	}

	/**
	 * When the clock of the store was first set back: at the begin of a step back, or at
	 * the end of a step forward.
	 * @return the time, {@link Long#MAX_VALUE} if it never was
	 */
	long storeClockSetBack() {
		Set<String> forward = new HashSet<>();
		for (TimelineEvent event : this.events) {
			boolean back = event.kind() == Kind.START && event.fault().equals(STORE_CLOCK) && event.amount() < 0;
			if (back || (event.kind() == Kind.END && forward.remove(event.name()))) {
				return event.nanos();
			}
			if (event.kind() == Kind.START && event.fault().equals(STORE_CLOCK)) {
				forward.add(event.name());
			}
		}
		return Long.MAX_VALUE;
	}

	/**
	 * The times in which the store may have lost acknowledged data. A clock that steps
	 * loses leases, and nothing else.
	 * @return the times
	 */
	Intervals dataLosses() {
		return windows((event) -> event.isLossy() && !event.fault().equals(STORE_CLOCK));
	}

	/**
	 * How many faults of each type there were.
	 * @return the numbers by fault
	 */
	Map<String, Integer> counts() {
		Map<String, Integer> counts = new TreeMap<>(
				Comparator.comparingInt(Timeline::number).thenComparing(Comparator.naturalOrder()));
		this.events.stream()
			.filter((event) -> event.kind() == Kind.START)
			.forEach((event) -> counts.merge(event.fault(), 1, Integer::sum));
		return counts;
	}

	private static int number(String fault) {
		String digits = fault.replaceAll("\\D", "");
		return digits.isEmpty() ? 0 : Integer.parseInt(digits);
	}

	/**
	 * Whether the campaign came to its end.
	 * @return whether all clients were stopped
	 */
	boolean isDone() {
		return this.events.stream().anyMatch((event) -> event.kind() == Kind.DONE);
	}

	/**
	 * Whether the store may have lost what it had acknowledged.
	 * @return whether this was a campaign of tier L
	 */
	boolean isLossy() {
		return this.events.stream().anyMatch((event) -> event.kind() == Kind.START && event.isLossy());
	}

}
