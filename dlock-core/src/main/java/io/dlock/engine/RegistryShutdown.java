package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.LockSettings;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.engine.lease.Revoker;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.engine.queue.StoreQueueMembership;

/**
 * The end of a registry: gives running holders the shutdown timeout, and takes the locks
 * of the others away.
 */
final class RegistryShutdown {

	private static final Log logger = LogFactory.getLog(RegistryShutdown.class);

	private static final Duration EVENTS_AT_STOP = Duration.ofSeconds(1);

	private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final LockSettings settings;

	private final MachineClock clock;

	private final EngineThreads threads;

	private final LocalQueues queues;

	private final LeaseRenewer renewer;

	private final Revoker revoker;

	private final StoreQueueMembership membership;

	private final LeaseReleaser releaser;

	private final AtomicBoolean closing = new AtomicBoolean();

	private final CountDownLatch closed = new CountDownLatch(1);

	/** The rest of the shutdown timeout. */
	private volatile Duration grace;

	RegistryShutdown(LockSettings settings, MachineClock clock, EngineThreads threads, LocalQueues queues,
			LeaseRenewer renewer, Revoker revoker, StoreQueueMembership membership, LeaseReleaser releaser) {
		this.settings = settings;
		this.clock = clock;
		this.threads = threads;
		this.queues = queues;
		this.renewer = renewer;
		this.revoker = revoker;
		this.membership = membership;
		this.releaser = releaser;
		this.grace = settings.shutdownTimeout();
	}

	/**
	 * Restore the shutdown timeout.
	 */
	void reset() {
		this.grace = this.settings.shutdownTimeout();
	}

	/**
	 * Spend a part of the shutdown timeout.
	 * @param wait waits, at most for the duration that it receives
	 */
	void spend(Consumer<Duration> wait) {
		long begin = this.clock.nanoTime();
		wait.accept(this.grace);
		Duration left = this.grace.minusNanos(this.clock.nanoTime() - begin);
		this.grace = left.isNegative() ? Duration.ZERO : left;
	}

	/**
	 * Wait until the locks that are held now have ended, up to the rest of the shutdown
	 * timeout.
	 */
	void awaitHolders() {
		spend(this.renewer::awaitEndOfHolds);
	}

	/**
	 * Close the registry, once. A second caller waits for the first, unless it is a
	 * listener for which the first waits: the holders are renewed and told meanwhile.
	 */
	void close() {
		if (this.closing.getAndSet(true)) {
			awaitClosed();
			return;
		}
		try {
			this.queues.close();
			awaitHolders();
			end();
		}
		finally {
			this.membership.close();
			this.threads.close();
			this.closed.countDown();
		}
	}

	private void awaitClosed() {
		if (this.threads.isPublishing()) {
			return;
		}
		Duration limit = this.grace.plus(this.settings.commandTimeout().multipliedBy(2)).plus(EVENTS_AT_STOP);
		try {
			if (!this.closed.await(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS)) {
				logger.debug("Another thread is still closing the lock registry");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void awaitIdle(Deadline limit) {
		for (long left = limit.remainingNanos(); left > 0 && !limit.isOver()
				&& !this.releaser.isIdle(); left -= POLL_NANOS) {
			LockSupport.parkNanos(this, POLL_NANOS);
		}
	}

	/**
	 * An interrupt ends a step, and none of those behind it.
	 */
	private void end() {
		Deadline limit = Deadline.after(this.clock, this.settings.commandTimeout().multipliedBy(2));
		boolean interrupted = false;
		try {
			for (Runnable step : List.<Runnable>of(() -> this.releaser.takeAway(this.renewer.leases(), limit),
					// waiting requests leave, and give back the leases that were left to
					// them
					() -> awaitIdle(limit), () -> this.revoker.flush(limit),
					() -> this.threads.awaitEvents(EVENTS_AT_STOP))) {
				interrupted |= Thread.interrupted();
				step.run();
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
