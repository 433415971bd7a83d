package io.dlock.torture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.dlock.torture.history.HistoryTail;

/**
 * Looks whether all threads of all clients get on, and makes a client print its stacks if
 * one does not (I9). The judge finds every call that took too long; this one is there for
 * those that never end.
 */
final class Watchdog implements AutoCloseable {

	/**
	 * A thread waits for two leases and works for at most three, and its client or its
	 * network may stand still for three in between, a few times in a row.
	 */
	private static final int LEASES = 30;

	private static final Duration INTERVAL = Duration.ofSeconds(1);

	private final List<ClientProcess> clients;

	private final long patience;

	private final Map<Path, HistoryTail> tails = new HashMap<>();

	private final Map<Path, Boolean> dumped = new HashMap<>();

	private final ConcurrentLinkedQueue<String> findings = new ConcurrentLinkedQueue<>();

	private final CountDownLatch closing = new CountDownLatch(1);

	private final Thread thread = new Thread(this::watch, "watchdog");

	Watchdog(List<ClientProcess> clients, Duration lease) {
		this.clients = clients;
		this.patience = lease.multipliedBy(LEASES).toNanos();
		this.thread.setDaemon(true);
		this.thread.start();
	}

	private void watch() {
		try {
			while (!this.closing.await(INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
				this.clients.forEach(this::look);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void look(ClientProcess client) {
		Path history = client.history();
		if (!Files.exists(history) || this.dumped.containsKey(history)) {
			return;
		}
		HistoryTail tail = this.tails.computeIfAbsent(history, HistoryTail::new);
		tail.advance();
		long silent = System.nanoTime() - tail.oldest();
		if (silent > this.patience && client.isAlive()) {
			this.dumped.put(history, true);
			client.dumpThreads();
			this.findings.add("a thread of %s is silent for %d ms, its stacks are in %s.out".formatted(client.name(),
					Duration.ofNanos(silent).toMillis(), client.name()));
		}
	}

	List<String> findings() {
		return List.copyOf(this.findings);
	}

	@Override
	public void close() {
		this.closing.countDown();
		try {
			this.thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
