package io.dlock.torture.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;

import tools.jackson.databind.json.JsonMapper;

import io.dlock.store.Quarantine;
import io.dlock.torture.Keys;
import io.dlock.torture.client.Contender.Abilities;
import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryHeader;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;

/**
 * A client under torture, a process of its own. It warms up and prints {@code READY},
 * locks keys from the line {@code GO} on its standard input until the line {@code STOP},
 * suffers from what else it is told there (see {@link Afflictions}), finishes what it has
 * begun, comes to rest and prints {@code IDLE}; with the line {@code CLOSE} it shuts
 * down, and prints {@code BASELINE <json>}: what there was of the contender when it was
 * ready, idle and closed.
 * <p>
 * {@code TortureClient --store=redis --port=6379 --client=0 --history=FILE --resource=PORT},
 * and whatever {@link ClientOptions} and {@link StoreAddress} have; times are in
 * milliseconds.
 */
public final class TortureClient {

	private static final int WARM_UP_CALLS = 50;

	private static final int WARM_UP_WAITS = 10;

	/** No two calls of a client have the same number, also if it is started again. */
	private static final long ATTEMPTS_PER_LIFE = 1_000_000_000;

	private static final int FIRST_POLLER = 200;

	private static final int FIRST_TRANSFER = 300;

	private static final int FIRST_PLACE = 400;

	private static final int FIRST_FAIR = 500;

	private final ClientOptions options;

	private final Contender contender;

	private final HistoryWriter history;

	private final AtomicBoolean stopped = new AtomicBoolean();

	/** Those that are interrupted. */
	private final List<Thread> workers = new ArrayList<>();

	private final List<Thread> others = new ArrayList<>();

	private final Afflictions afflictions;

	private final Map<String, LeakBaseline> baseline = new LinkedHashMap<>();

	private TortureClient(ClientOptions options) {
		this.options = options;
		this.contender = Contenders.connect(options);
		this.afflictions = new Afflictions(options, this.contender, this.stopped);
		Abilities abilities = this.contender.abilities();
		this.history = new HistoryWriter(options.history(),
				new HistoryHeader(options.client(), options.incarnation(), ProcessHandle.current().pid(),
						options.lease().toNanos(), abilities.commandTimeoutNanos(), abilities.pollNanos(),
						abilities.fenced(), abilities.notified()));
	}

	public static void main(String[] args) throws Exception {
		TortureClient client = new TortureClient(ClientOptions.parse(args));
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		client.warmUp();
		System.out.println("READY");
		client.await(in, "GO");
		client.start();
		client.await(in, "STOP");
		client.stop();
		System.out.println("IDLE");
		client.await(in, "CLOSE");
		client.close();
		System.out.println("BASELINE " + JsonMapper.shared().writeValueAsString(client.baseline));
		System.exit(0);
	}

	/**
	 * The end of the input is an order as well: the bed is gone.
	 */
	private void await(BufferedReader in, String order) throws IOException {
		String line = in.readLine();
		while (line != null && !line.equals(order)) {
			if (line.startsWith(Afflictions.WORD)) {
				this.afflictions.begin(line);
			}
			line = in.readLine();
		}
	}

	/**
	 * The first calls of a JVM load classes and connect, to each node of a cluster when
	 * it is needed: that says nothing about locks. They have keys of their own, and are
	 * not written down.
	 */
	private void warmUp() {
		waitForFirstQuarantine();
		for (int i = 0; i < WARM_UP_CALLS; i++) {
			LockCall call = new LockCall(warmUpKey(i), this.options.lease(), Duration.ZERO, true, i % 3 == 0);
			if (this.contender.acquire(call) instanceof Outcome.Granted granted) {
				granted.holding().onLost(() -> {
				});
				granted.holding().isValid();
				granted.holding().release();
			}
		}
		switch (this.options.store().type().access()) {
			case REDIS -> warmUpWaiting();
			case EACH_REDIS -> {
				warmUpTogether();
				warmUpWaiting();
			}
			case DATABASE -> {
			}
		}
		this.baseline.put("ready", LeakBaseline.takeWhenQuiet());
	}

	/**
	 * Each node of a quorum is asked on threads of its own, as many as are needed.
	 */
	private void warmUpTogether() {
		List<CompletableFuture<Outcome>> calls = IntStream.range(0, WARM_UP_CALLS)
			.mapToObj((i) -> this.contender
				.acquireAsync(new LockCall(warmUpKey(i), this.options.lease(), this.options.lease(), true, true)))
			.toList();
		for (CompletableFuture<Outcome> call : calls) {
			if (call.join() instanceof Outcome.Granted granted) {
				granted.holding().release();
			}
		}
	}

	/**
	 * A store without a history begins one.
	 */
	private void waitForFirstQuarantine() {
		Quarantine quarantine = this.options.store().quarantine();
		if (quarantine != null) {
			Duration waitTime = quarantine.longestLease().plus(quarantine.maxLag()).multipliedBy(2);
			LockCall call = new LockCall(warmUpKey(0), this.options.lease(), waitTime, true, false);
			if (this.contender.acquire(call) instanceof Outcome.Granted granted) {
				granted.holding().release();
			}
		}
	}

	private void warmUpWaiting() {
		boolean waited = false;
		for (int i = 0; i < WARM_UP_WAITS && !waited; i++) {
			waited = waitForAnotherProcess();
		}
	}

	/**
	 * A client that waits for the first time for a lock of another process subscribes to
	 * a channel of its own: that is not a leak, so it belongs to the baseline.
	 * @return whether it had to wait
	 */
	private boolean waitForAnotherProcess() {
		LockCall call = new LockCall(warmUpKey(0), this.options.lease(), this.options.lease(), true, false);
		LockCall waiting = new LockCall(warmUpKey(0), this.options.lease(), this.options.lease().dividedBy(2), true,
				false);
		try (Contender other = Contenders.connect(this.options)) {
			if (other.acquire(call) instanceof Outcome.Granted granted) {
				Outcome outcome = this.contender.acquire(waiting);
				if (outcome instanceof Outcome.Granted unexpected) {
					unexpected.holding().release();
				}
				granted.holding().release();
				return outcome instanceof Outcome.NotGranted failed && failed.event() == Event.REFUSED;
			}
		}
		return false;
	}

	private String warmUpKey(int call) {
		return Keys.warmUp(this.options.client(), call);
	}

	private void start() {
		AtomicLong attempts = new AtomicLong(this.options.incarnation() * ATTEMPTS_PER_LIFE);
		daemon(new StallWatch(this.history, this.options.client()), "stall-watch");
		if (this.options.kept() > 0) {
			this.others.add(new Thread(new Keeper(this.options, this.contender, this.history, attempts, this.stopped),
					"keeper"));
			this.others.forEach(Thread::start);
			return;
		}
		for (int i = 0; i < this.options.threads(); i++) {
			this.workers.add(new Thread(worker(i, attempts, Workload::next), "worker-" + i));
		}
		for (int i = 0; i < this.options.pollers(); i++) {
			this.others.add(new Thread(worker(FIRST_POLLER + i, attempts, Workload::nextTry), "poller-" + i));
		}
		for (int i = 0; i < this.options.transfers(); i++) {
			this.others.add(new Thread(new Transfers(this.options, FIRST_TRANSFER + i, this.contender, this.history,
					attempts, this.stopped), "transfers-" + i));
		}
		for (int i = 0; i < this.options.places(); i++) {
			this.others.add(new Thread(worker(FIRST_PLACE + i, attempts, Workload::nextPlace), "places-" + i));
		}
		for (int i = 0; i < this.options.fair(); i++) {
			this.others.add(new Thread(worker(FIRST_FAIR + i, attempts, Workload::nextFair), "fair-" + i));
		}
		if (this.options.futures() > 0) {
			this.others.add(new Thread(new Futures(this.options, this.contender, this.history, attempts, this.stopped),
					"futures"));
		}
		this.workers.forEach(Thread::start);
		this.others.forEach(Thread::start);
		if (!this.options.interruptEvery().isZero()) {
			daemon(new Interrupter(this.history, this.options, this.workers), "interrupter");
		}
	}

	private Worker worker(int number, AtomicLong attempts, Function<Workload, Workload.Cycle> choice) {
		return new Worker(this.options, number, this.contender, this.history, attempts, this.stopped, choice);
	}

	private static void daemon(Runnable task, String name) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		thread.start();
	}

	/**
	 * Locks that were lost or unknown in the end have two of the longest leases to come
	 * to rest, and those that are kept their own.
	 */
	private void stop() throws InterruptedException {
		this.stopped.set(true);
		for (Thread worker : this.workers) {
			worker.join();
		}
		for (Thread other : this.others) {
			other.join();
		}
		this.afflictions.awaitEnd();
		LeakBaseline.pause(this.options.lease().multipliedBy(4));
		this.baseline.put("idle", LeakBaseline.takeAtRest());
	}

	private void close() {
		this.contender.close();
		LeakBaseline.await(() -> LeakBaseline.threadsOfLibraries().isEmpty());
		this.baseline.put("closed", LeakBaseline.take());
		this.history
			.append(HistoryRecord.of(System.nanoTime(), new Origin(this.options.client(), -1, 0, -1), Event.END));
		this.history.close();
	}

}
