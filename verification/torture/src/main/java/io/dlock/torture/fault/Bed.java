package io.dlock.torture.fault;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import io.dlock.test.TcpProxy;
import io.dlock.torture.server.StoreUnderTest;

/**
 * The targets of faults.
 *
 * @param store the store
 * @param clients the clients
 * @param beside clients that no fault is inflicted on directly, but whose network and
 * store are broken like those of the others
 * @param links the proxies between clients and store: one for each client, or for each
 * node of a cluster
 * @param storeClock the clock of the store, if it can be stepped
 * @param lease the lease of the locks
 * @param quarantine how long the store grants no lock when it may have forgotten some,
 * zero if it does not know of that
 */
public record Bed(StoreUnderTest store, List<? extends TorturedClient> clients, List<? extends TorturedClient> beside,
		List<TcpProxy> links, Optional<ClockOffset> storeClock, Duration lease, Duration quarantine) {

	/**
	 * Count the targets.
	 * @return the sizes
	 */
	public Scope.Sizes sizes() {
		return new Scope.Sizes(this.clients.size(), this.links.size(), this.store.nodes().size());
	}

	List<TorturedClient> everyClient() {
		return Stream.of(this.clients, this.beside).<TorturedClient>flatMap(List::stream).toList();
	}

	/**
	 * A client, which may be another process after its death.
	 */
	public interface TorturedClient {

		/**
		 * The process.
		 * @return its id
		 */
		long pid();

		/**
		 * Stop the scheduling of the process.
		 */
		void pause();

		/**
		 * Let it continue.
		 */
		void resume();

		/**
		 * Kill the process with signal 9.
		 */
		void kill();

		/**
		 * Whether one of its threads has held a lock that others want for a while, and
		 * works under it.
		 * @return whether it is worth to be killed now
		 */
		boolean holdsSharedLock();

		/**
		 * Start the next process, and wait until it runs.
		 * @throws InterruptedException if the calling thread is interrupted
		 */
		void respawn() throws InterruptedException;

		/**
		 * Tell it something on its standard input, and wait for what it says to that.
		 * @param line the line
		 * @param answer how the answer begins
		 * @return the rest of the answer
		 * @throws InterruptedException if the calling thread is interrupted
		 * @throws IllegalStateException if there is no answer
		 */
		String ask(String line, String answer) throws InterruptedException;

		/**
		 * The clock of the client.
		 * @return the clock, if it can be stepped
		 */
		Optional<ClockOffset> clock();

	}

}
