package io.dlock.torture.client;

import java.nio.file.Path;
import java.time.Duration;

import io.dlock.torture.Arguments;

/**
 * How a client is to behave.
 *
 * @param client its number
 * @param incarnation how often it was started before
 * @param seed of its random choices
 * @param lease the lease of most locks
 * @param waitTime the longest time it waits for a lock
 * @param threads how many threads lock keys
 * @param keys how many keys all clients share
 * @param think the longest pause of a thread between two locks
 * @param interruptEvery how often a thread is interrupted on average, zero for never
 * @param history the file of its history
 * @param futures the number of requests at a time that no thread waits for
 * @param pollers the number of threads that try keys without waiting calls
 * @param transfers the number of threads that lock several accounts at a time
 * @param places the number of threads that lock keys together with others
 * @param kept the number of locks to keep, and to do nothing else; zero for none
 * @param resourcePort the port of the resource
 * @param contender who locks
 * @param store where
 */
record ClientOptions(int client, int incarnation, long seed, Duration lease, Duration waitTime, int threads, int keys,
		Duration think, Duration interruptEvery, Path history, int futures, int pollers, int transfers, int places,
		int fair, int kept, boolean longLeases, int resourcePort, String contender, StoreAddress store) {

	static ClientOptions parse(String... args) {
		Arguments arguments = Arguments.parse(args);
		Duration lease = Duration.ofMillis(arguments.number("lease", 1000));
		return new ClientOptions(arguments.number("client", 0), arguments.number("incarnation", 0),
				arguments.number("seed", 1L), lease, Duration.ofMillis(arguments.number("wait", 2 * lease.toMillis())),
				arguments.number("threads", 4), arguments.number("keys", 8),
				Duration.ofMillis(arguments.number("think", 20)),
				Duration.ofMillis(arguments.number("interrupt-every", 500)), Path.of(arguments.text("history")),
				arguments.number("futures", 0), arguments.number("pollers", 0), arguments.number("transfers", 0),
				arguments.number("places", 0), arguments.number("fair", 0), arguments.number("kept", 0),
				Boolean.parseBoolean(arguments.text("long-leases", "false")),
				Integer.parseInt(arguments.text("resource")), arguments.text("contender", "dlock"),
				StoreAddress.of(arguments));
	}

	String instance() {
		return "client-" + this.client + "-" + this.incarnation;
	}

}
