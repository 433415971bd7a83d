package io.dlock.engine.lease;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.store.LockStore;
import io.dlock.store.StoreException;

/**
 * Has the store remove the remains of old locks from time to time.
 */
public final class StoreSweeper {

	private static final Log logger = LogFactory.getLog(StoreSweeper.class);

	private static final Duration PERIOD = Duration.ofMinutes(30);

	/** A sweep is bounded; if it left something, the next follows soon. */
	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final LockStore store;

	private final EngineThreads threads;

	public StoreSweeper(LockStore store, EngineThreads threads) {
		this.store = store;
		this.threads = threads;
	}

	/**
	 * Sweep for the first time after a period.
	 */
	public void start() {
		this.threads.scheduleWork(this::sweep, PERIOD.toNanos());
	}

	private void sweep() {
		boolean more = false;
		try {
			more = this.store.sweep();
		}
		catch (StoreException ex) {
			logger.debug("The sweep of the lock store failed and will be repeated", ex);
		}
		finally {
			this.threads.scheduleWork(this::sweep, (more ? PAUSE : PERIOD).toNanos());
		}
	}

}
