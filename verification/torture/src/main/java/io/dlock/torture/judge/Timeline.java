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

import io.dlock.torture.judge.Deed.Kind;
import io.dlock.torture.judge.Intervals.Interval;

/**
 * The actions of the nemesis.
 *
 * @param events its deeds in order
 */
record Timeline(List<Deed> events) {

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
	 * @param file its file
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
			.map(Deed::parse)
			.toList());
	}

	/**
	 * When a process was stopped.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals pauses(int client) {
		return windows((deed) -> deed.isOf("client-", client) && STOPS.contains(deed.fault()));
	}

	/**
	 * When the clock of a process was turned.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals clocks(int client) {
		return windows((deed) -> deed.fault().equals(CLIENT_CLOCK) && deed.concerns(client));
	}

	/**
	 * The steps forward of the clock of a process, each shortly after its time. Not those
	 * that end a step back: it is not known how long before its time they were.
	 * @param client the number of the client
	 * @return the beginnings of the steps
	 */
	List<Deed> clockSteps(int client) {
		return this.events.stream()
			.filter((deed) -> deed.kind() == Kind.START && deed.fault().equals(CLIENT_CLOCK) && deed.concerns(client)
					&& deed.text().startsWith(CLOCK_STEP) && deed.amount() > 0)
			.toList();
	}

	/**
	 * How often a process was stopped.
	 */
	long stops() {
		return this.events.stream().filter((deed) -> deed.kind() == Kind.START && STOPS.contains(deed.fault())).count();
	}

	/**
	 * When the store, or a client's way to it, was not well.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals storeFaults(int client) {
		return windows((deed) -> !OF_CLIENTS.contains(deed.fault()) && deed.concerns(client));
	}

	/**
	 * The times in which no client could use the store.
	 * @return the times
	 */
	Intervals outages() {
		return windows(
				(deed) -> !OF_CLIENTS.contains(deed.fault()) && !deed.fault().equals(BUSY_MACHINE) && !deed.isOfOne());
	}

	/**
	 * The times in which the store may have forgotten locks, and may grant none because
	 * of that: such a fault ends with the quarantine.
	 * @return the times
	 */
	Intervals quarantines() {
		return windows((deed) -> FORGETTING.contains(deed.fault()) || deed.text().startsWith(PROMOTION));
	}

	/**
	 * When a client suffered from something that others did not.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals ownFaults(int client) {
		return windows((deed) -> deed.isOfOne() && deed.concerns(client));
	}

	/**
	 * When a client was under any fault, of its own or of the store.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals faults(int client) {
		return windows((deed) -> deed.concerns(client));
	}

	/**
	 * When a client was under a fault that may cost it a lock.
	 * @param client the number of the client
	 * @return the times
	 */
	Intervals harmfulFaults(int client) {
		return windows((deed) -> !HARMLESS.contains(deed.fault()) && deed.concerns(client));
	}

	/**
	 * The times from the begin of a fault to its end, or to when everything was healed.
	 */
	private Intervals windows(Predicate<Deed> chosen) {
		List<Interval> windows = new ArrayList<>();
		Map<String, Long> open = new HashMap<>();
		long last = 0;
		for (Deed deed : this.events) {
			last = deed.nanos();
			if (deed.kind() == Kind.START && chosen.test(deed)) {
				open.putIfAbsent(deed.name(), deed.nanos());
			}
			else if (deed.kind() == Kind.KILL) {
				// until then the client was well
				open.computeIfPresent(deed.name(), (name, begin) -> deed.nanos());
			}
			else if (deed.kind() == Kind.END) {
				Long begin = open.remove(deed.name());
				if (begin != null) {
					windows.add(new Interval(begin, deed.nanos()));
				}
			}
			else if (deed.kind() == Kind.HEAL) {
				open.values().forEach((begin) -> windows.add(new Interval(begin, deed.nanos())));
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
		Kind kill = this.events.stream().anyMatch((deed) -> deed.kind() == Kind.KILL) ? Kind.KILL : Kind.START;
		return this.events.stream()
			.filter((deed) -> deed.kind() == kill && deed.fault().equals("F3") && deed.isOf("client-", client))
			.map(Deed::nanos)
			.toList();
	}

	/**
	 * When the clock of the store was first set back: at the begin of a step back, or at
	 * the end of a step forward.
	 * @return the time, {@link Long#MAX_VALUE} if it never was
	 */
	long storeClockSetBack() {
		Set<String> forward = new HashSet<>();
		for (Deed deed : this.events) {
			boolean back = deed.kind() == Kind.START && deed.fault().equals(STORE_CLOCK) && deed.amount() < 0;
			if (back || (deed.kind() == Kind.END && forward.remove(deed.name()))) {
				return deed.nanos();
			}
			if (deed.kind() == Kind.START && deed.fault().equals(STORE_CLOCK)) {
				forward.add(deed.name());
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
		return windows((deed) -> deed.isLossy() && !deed.fault().equals(STORE_CLOCK));
	}

	/**
	 * How many faults of each type there were.
	 * @return the numbers by fault
	 */
	Map<String, Integer> counts() {
		Map<String, Integer> counts = new TreeMap<>(
				Comparator.comparingInt(Timeline::number).thenComparing(Comparator.naturalOrder()));
		this.events.stream()
			.filter((deed) -> deed.kind() == Kind.START)
			.forEach((deed) -> counts.merge(deed.fault(), 1, Integer::sum));
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
		return this.events.stream().anyMatch((deed) -> deed.kind() == Kind.DONE);
	}

	/**
	 * Whether the store may have lost what it had acknowledged.
	 * @return whether this was a campaign of tier L
	 */
	boolean isLossy() {
		return this.events.stream().anyMatch((deed) -> deed.kind() == Kind.START && deed.isLossy());
	}

}
