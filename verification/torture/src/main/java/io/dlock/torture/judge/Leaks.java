package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * I11 in the clients: when all locks are released, none of the objects of a lock is left,
 * and there is not much more of anything than before the first; when the contender is
 * closed, none of its threads is left. A client that was killed says nothing, but the one
 * after it does, and the store says what the dead left there.
 */
final class Leaks {

	private static final String BASELINE = "BASELINE ";

	private static final String FIGURES = "FIGURES ";

	private static final Pattern FIGURE = Pattern.compile("([a-z-]+)=(\\d+)");

	/**
	 * There may be as many of these as there are threads: the last one that each has
	 * used.
	 */
	private static final int KEPT_BY_THREADS = 16;

	private static final List<String> PHASES = List.of("ready", "idle", "closed");

	private static final Set<String> OF_ONE_LOCK = Set.of("io.dlock.engine.lease.Hold", "io.dlock.engine.lease.Lease",
			"io.dlock.engine.lease.RenewalSchedule", "io.dlock.engine.queue.QueuedRequest",
			"io.dlock.engine.LeaseLockHandle", "io.dlock.engine.BlockingAcquisition",
			"io.dlock.engine.AsyncAcquisition", "io.dlock.engine.lease.UnansweredRequests",
			"io.dlock.LockContext$Binding", "io.dlock.LockRequest");

	private final String client;

	private final JsonNode baseline;

	private final boolean frugal;

	private final List<Run.Check> leaks = new ArrayList<>();

	private Leaks(String client, JsonNode baseline, boolean frugal) {
		this.client = client;
		this.baseline = baseline;
		this.frugal = frugal;
	}

	/**
	 * Look at what the clients printed at their ends.
	 * @param client the name of the client
	 * @param lines its output
	 * @param frugal whether it promises to keep no threads that it does not need: a pool
	 * that grows when it is first needed, and stays so, is no leak
	 * @return the leaks, and for each client that it was looked at
	 */
	static List<Run.Check> of(String client, List<String> lines, boolean frugal) {
		return baselines(lines).stream()
			.flatMap((baseline) -> new Leaks(client, baseline, frugal).judge().stream())
			.toList();
	}

	/**
	 * The figures that a client has to print at its end and did not, and the threads that
	 * ended early, after which it asked for fewer locks.
	 * @param client the name of the client
	 * @param lines its output
	 * @return the missing figures and threads
	 */
	static List<String> missing(String client, List<String> lines) {
		Stream<String> threads = lines.stream()
			.filter((line) -> line.startsWith("Exception in thread "))
			.map((line) -> client + ": " + line);
		List<JsonNode> baselines = baselines(lines);
		if (baselines.isEmpty()) {
			return Stream.concat(threads, Stream.of(client + " did not say what it left")).toList();
		}
		JsonNode last = baselines.get(baselines.size() - 1);
		Stream<String> figures = PHASES.stream()
			.filter((phase) -> !last.has(phase))
			.map((phase) -> client + " did not say what it had when " + phase);
		return Stream.concat(threads, figures).toList();
	}

	private static List<JsonNode> baselines(List<String> lines) {
		return lines.stream()
			.filter((line) -> line.startsWith(BASELINE))
			.map((line) -> JsonMapper.shared().readTree(line.substring(BASELINE.length())))
			.toList();
	}

	private List<Run.Check> judge() {
		for (String phase : List.of("idle", "closed")) {
			this.baseline.path(phase).path("objects").properties().forEach((entry) -> {
				long count = entry.getValue().asLong();
				long before = this.baseline.path("ready").path("objects").path(entry.getKey()).asLong();
				if (count > KEPT_BY_THREADS + (OF_ONE_LOCK.contains(entry.getKey()) ? 0 : before)) {
					leak(count + " " + entry.getKey() + " when " + phase + ", " + before + " before");
				}
			});
		}
		if (this.frugal && this.baseline.has("ready")) {
			long before = live("ready");
			if (live("idle") > before + KEPT_BY_THREADS) {
				leak(live("idle") + " threads when idle, " + before + " before");
			}
		}
		this.leaks.add(new Run.Check("I11", true, this.client + " was looked at"));
		this.baseline.path("closed")
			.path("threads")
			.forEach((thread) -> leak("thread " + thread.asString() + " when closed"));
		return this.leaks;
	}

	private long live(String phase) {
		return this.baseline.path(phase).path("live").asLong();
	}

	private void leak(String text) {
		this.leaks.add(new Run.Check("I11", false, this.client + " has " + text));
	}

	/**
	 * The figures of a client.
	 * @param client its name
	 * @param lines its output
	 * @return its figures
	 */
	static List<Leftover> leftovers(String client, List<String> lines) {
		return baselines(lines).stream()
			.flatMap(
					(baseline) -> List
						.of(leftover(client + " objects of the locks", baseline, Leaks::objects),
								leftover(client + " objects of one lock", baseline, Leaks::objectsOfOneLock),
								leftover(client + " threads of the locks", baseline,
										(phase) -> phase.path("threads").size()),
								leftover(client + " threads", baseline, (phase) -> phase.path("live").asLong()))
						.stream())
			.toList();
	}

	private static Leftover leftover(String what, JsonNode baseline, ToLongFunction<JsonNode> count) {
		Map<String, Long> phases = new LinkedHashMap<>();
		PHASES.stream()
			.filter(baseline::has)
			.forEach((phase) -> phases.put(phase, count.applyAsLong(baseline.path(phase))));
		return new Leftover(what, phases);
	}

	private static long objects(JsonNode phase) {
		return phase.path("objects").properties().stream().mapToLong((entry) -> entry.getValue().asLong()).sum();
	}

	private static long objectsOfOneLock(JsonNode phase) {
		return OF_ONE_LOCK.stream().mapToLong((name) -> phase.path("objects").path(name).asLong()).sum();
	}

	/**
	 * The figures of the store.
	 * @param checks the lines of the checks at the end
	 * @return its figures
	 */
	static List<Leftover> ofStore(List<String> checks) {
		Map<String, Map<String, Long>> figures = new LinkedHashMap<>();
		for (String line : checks) {
			if (line.startsWith(FIGURES)) {
				String phase = line.split(" ", 3)[1];
				Matcher figure = FIGURE.matcher(line);
				while (figure.find()) {
					figures.computeIfAbsent(figure.group(1), (name) -> new LinkedHashMap<>())
						.put(phase, Long.valueOf(figure.group(2)));
				}
			}
		}
		return figures.entrySet()
			.stream()
			.map((entry) -> new Leftover("store " + entry.getKey(), entry.getValue()))
			.toList();
	}

}
