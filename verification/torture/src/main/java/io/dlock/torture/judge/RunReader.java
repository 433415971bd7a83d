package io.dlock.torture.judge;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryHeader;
import io.dlock.torture.history.HistoryReader;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.judge.Intervals.Interval;

/**
 * Reads the directory of a run: {@code timeline.txt}, {@code *.history},
 * {@code resource.log}, the outputs of the clients and {@code checks.txt}.
 */
final class RunReader {

	private static final String VIOLATION = "VIOLATION ";

	private static final String FINE = "OK ";

	private static final String IMPOSSIBLE = "NOTE - fault not possible";

	/** One fault in so many may not be possible. */
	private static final int POSSIBLE = 10;

	private static final Pattern OPTION = Pattern.compile("(\\w+)=([^,\\]]+)");

	private static final String US = "dlock";

	private static final long OUR_TOKENS_PER_LEASE = 1024;

	private final Path directory;

	private final long slack;

	private final Timeline timeline;

	private final Intervals machine;

	private final List<Client> clients = new ArrayList<>();

	private final List<Attempt> attempts = new ArrayList<>();

	RunReader(Path directory, long slack) {
		this.directory = directory;
		this.slack = slack;
		this.timeline = Timeline.read(directory.resolve("timeline.txt"));
		this.machine = machine(directory.resolve("machine.txt"));
	}

	Run read() {
		List<Path> histories = files(".history");
		if (histories.isEmpty()) {
			throw new IllegalArgumentException("No histories in " + this.directory);
		}
		histories.forEach(this::readHistory);
		this.attempts.sort(Comparator.comparingLong(Attempt::invoked));
		HistoryHeader header = this.clients.get(0).header();
		Map<String, String> options = options();
		return new Run(
				new Run.Limits(header.leaseNanos(), header.commandTimeoutNanos(), header.pollNanos(), header.fenced(),
						header.notified(), tokensPerLease(options), this.slack),
				List.copyOf(this.clients), List.copyOf(this.attempts), resource(), this.timeline, troubles(),
				checks(options), missing(options), options, leftovers(), this.machine);
	}

	/**
	 * When the machine was slow. The last line may be cut off.
	 */
	static Intervals machine(Path file) {
		return Intervals.of(lines(file).stream()
			.map((line) -> line.split(" "))
			.filter((times) -> times.length >= 2 && times[1].length() >= times[0].length())
			.map((times) -> new Interval(Long.parseLong(times[0]), Long.parseLong(times[1])))
			.toList());
	}

	private void readHistory(Path file) {
		HistoryHeader header = HistoryReader.header(file);
		List<Interval> stalls = new ArrayList<>();
		List<Interval> waits = new ArrayList<>();
		long[] last = new long[1];
		boolean[] ended = new boolean[1];
		HistoryReader.forEach(file, (entry) -> {
			last[0] = Math.max(last[0], entry.nanos());
			ended[0] |= entry.event() == Event.END;
			if (entry.event() == Event.STALL) {
				stalls.add(new Interval(entry.other(), entry.nanos()));
				long waited = (entry.value() != 0) ? entry.value() : entry.nanos() - entry.other();
				waits.add(new Interval(entry.nanos() - waited, entry.nanos()));
			}
		});
		Client client = client(header, last[0], ended[0], Intervals.of(stalls), Intervals.of(waits));
		this.clients.add(client);
		Map<Long, Attempt> open = new HashMap<>();
		Interrupts interrupts = new Interrupts();
		HistoryReader.forEach(file, (entry) -> {
			if (entry.attempt() > 0) {
				Attempt attempt = open.computeIfAbsent(entry.attempt(), (number) -> new Attempt(client, entry));
				attempt.add(entry);
				interrupts.tell(entry, attempt);
			}
			else if (entry.event() == Event.INTERRUPT) {
				interrupts.add(entry);
			}
		});
		open.values().stream().filter((attempt) -> attempt.invoked() != 0).forEach(this.attempts::add);
	}

	/**
	 * The store may need three commands to recover from a fault, and a waiting client
	 * needs one poll to notice.
	 */
	private Client client(HistoryHeader header, long last, boolean ended, Intervals stalls, Intervals waits) {
		long after = 3 * header.commandTimeoutNanos() + header.pollNanos();
		int number = header.client();
		return new Client(header, last, ended ? 0 : killed(number, last),
				this.timeline.pauses(number).and(stalls).and(this.machine),
				this.timeline.pauses(number).and(waits).and(this.machine),
				this.timeline.harmfulFaults(number).extended(after), this.timeline.storeFaults(number).extended(after),
				this.timeline.clocks(number));
	}

	/**
	 * The last that it wrote, or the first that the nemesis meant it after that.
	 */
	private long killed(int client, long last) {
		long shortly = 1_000_000_000;
		return this.timeline.kills(client)
			.stream()
			.filter((killed) -> killed > last - shortly)
			.findFirst()
			.map((killed) -> Math.max(killed, last))
			.orElse(last);
	}

	private List<HistoryRecord> resource() {
		Path log = this.directory.resolve("resource.log");
		return Files.exists(log) ? HistoryReader.readAll(log) : List.of();
	}

	private List<Trouble> troubles() {
		return files(".out").stream()
			.flatMap((out) -> lines(out).stream())
			.flatMap((line) -> Trouble.of(line).stream())
			.toList();
	}

	/**
	 * The first line of the plan has them.
	 */
	private Map<String, String> options() {
		Map<String, String> options = new LinkedHashMap<>();
		lines(this.directory.resolve("plan.txt")).stream().limit(1).forEach((line) -> {
			Matcher option = OPTION.matcher(line);
			while (option.find()) {
				options.put(option.group(1), option.group(2));
			}
		});
		return options;
	}

	private static long tokensPerLease(Map<String, String> options) {
		return isOurs(options) ? OUR_TOKENS_PER_LEASE : 1;
	}

	private static boolean isOurs(Map<String, String> options) {
		return options.getOrDefault("contender", US).equals(US);
	}

	private List<Run.Check> checks(Map<String, String> options) {
		List<Run.Check> checks = new ArrayList<>();
		for (Path out : files(".out")) {
			checks.addAll(Leaks.of(name(out), lines(out), isOurs(options)));
		}
		for (String line : lines(this.directory.resolve("checks.txt"))) {
			if (line.startsWith(VIOLATION) || line.startsWith(FINE)) {
				String[] parts = line.split(" ", 3);
				checks.add(new Run.Check(parts[1], line.startsWith(FINE), parts[2]));
			}
		}
		return checks;
	}

	/**
	 * The data that a campaign writes down and this one did not. No data is no proof.
	 */
	private List<String> missing(Map<String, String> options) {
		List<String> missing = new ArrayList<>();
		for (String file : List.of("timeline.txt", "machine.txt", "resource.log", "checks.txt", "plan.txt")) {
			require(missing, Files.exists(this.directory.resolve(file)), "there is no " + file);
		}
		require(missing, !options.isEmpty(), "the plan does not say what was asked for");
		require(missing, this.timeline.isDone(), "the timeline does not say that all clients are stopped");
		List<String> checks = lines(this.directory.resolve("checks.txt"));
		for (String phase : List.of("idle", "gone")) {
			require(missing, checks.stream().anyMatch((line) -> line.startsWith("FIGURES " + phase + " ")),
					"the store was not looked at when the clients were " + phase);
		}
		long impossible = checks.stream().filter((line) -> line.startsWith(IMPOSSIBLE)).count();
		int faults = this.timeline.counts().values().stream().mapToInt(Integer::intValue).sum();
		require(missing, impossible * POSSIBLE <= faults, impossible + " faults were not possible, of " + faults);
		this.clients.stream().map((client) -> client.header().client()).distinct().sorted().forEach((number) -> {
			String name = "client-" + number;
			missing.addAll(Leaks.missing(name, lines(this.directory.resolve(name + ".out"))));
		});
		return missing;
	}

	private static void require(List<String> missing, boolean there, String otherwise) {
		if (!there) {
			missing.add(otherwise);
		}
	}

	private List<Leftover> leftovers() {
		List<Leftover> leftovers = new ArrayList<>(Leaks.ofStore(lines(this.directory.resolve("checks.txt"))));
		files(".out").forEach((out) -> leftovers.addAll(Leaks.leftovers(name(out), lines(out))));
		return leftovers;
	}

	private static String name(Path out) {
		return out.getFileName().toString().replace(".out", "");
	}

	private List<Path> files(String suffix) {
		try (Stream<Path> files = Files.list(this.directory)) {
			return files.filter((file) -> file.getFileName().toString().startsWith("client-"))
				.filter((file) -> file.getFileName().toString().endsWith(suffix))
				.sorted()
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The output of clients has keys in it that are not text in every encoding.
	 */
	private static List<String> lines(Path file) {
		try {
			return Files.exists(file) ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList()
					: List.of();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
