package io.dlock.torture.client;

import java.util.ConcurrentModificationException;

import org.jspecify.annotations.Nullable;

import io.dlock.torture.history.Event;

/**
 * The meaning of the exceptions of the peers.
 */
final class Peers {

	private Peers() {
	}

	/**
	 * Acquire a lock of a peer.
	 * @param acquisition how, answers {@code null} if the lock is busy
	 * @return what came of it
	 */
	static Outcome acquire(Acquisition acquisition) {
		return outcome(() -> {
			Holding holding = acquisition.run();
			return (holding != null) ? new Outcome.Granted(holding) : null;
		});
	}

	/**
	 * Call a peer.
	 * @param call the call, answers {@code null} if a lock is busy
	 * @return what came of it
	 */
	static Outcome outcome(Call call) {
		try {
			Outcome outcome = call.run();
			return (outcome != null) ? outcome : new Outcome.NotGranted(Event.REFUSED, "busy");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return Outcome.NotGranted.of(Event.INTERRUPTED, ex);
		}
		catch (RuntimeException ex) {
			return Outcome.NotGranted.of(Event.UNKNOWN, ex);
		}
	}

	/**
	 * Release a lock of a peer.
	 * @param release how
	 * @return what came of it
	 */
	static Event release(Runnable release) {
		try {
			release.run();
			return Event.RELEASED;
		}
		catch (IllegalMonitorStateException | ConcurrentModificationException ex) {
			return Event.RELEASED_LOST;
		}
		catch (RuntimeException ex) {
			System.err.println("RELEASE_FAILED " + ex + ", " + ex.getCause());
			return Event.RELEASE_FAILED;
		}
	}

	/**
	 * A call to a peer.
	 */
	@FunctionalInterface
	interface Call {

		@Nullable Outcome run() throws InterruptedException;

	}

	/**
	 * A call to a peer for one lock.
	 */
	@FunctionalInterface
	interface Acquisition {

		@Nullable Holding run() throws InterruptedException;

	}

}
