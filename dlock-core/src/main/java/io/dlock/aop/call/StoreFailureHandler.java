package io.dlock.aop.call;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.LockStoreException;
import io.dlock.OnStoreFailure;

/**
 * Decides whether the calls of a method run without their lock while the store fails, and
 * warns of those that do.
 */
public final class StoreFailureHandler {

	private static final Log logger = LogFactory.getLog(StoreFailureHandler.class);

	private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

	private final OnStoreFailure onStoreFailure;

	private final String method;

	private final LongSupplier nanoTime;

	private final AtomicLong nextWarning;

	private final AtomicInteger unlocked = new AtomicInteger();

	/**
	 * Create a handler.
	 * @param onStoreFailure the rule, not {@link OnStoreFailure#DEFAULT}
	 * @param method the name of the method for the log
	 * @param nanoTime the clock
	 */
	public StoreFailureHandler(OnStoreFailure onStoreFailure, String method, LongSupplier nanoTime) {
		this.onStoreFailure = onStoreFailure;
		this.method = method;
		this.nanoTime = nanoTime;
		this.nextWarning = new AtomicLong(nanoTime.getAsLong());
	}

	public boolean isFailOpen() {
		return this.onStoreFailure == OnStoreFailure.PROCEED;
	}

	boolean isFallback() {
		return this.onStoreFailure == OnStoreFailure.FALLBACK;
	}

	/**
	 * Whether the method runs without its lock after a failure.
	 * @param failure the reason why there is no lock
	 * @return whether it runs
	 */
	boolean isFailOpen(Throwable failure) {
		return isFailOpen() && failure instanceof LockStoreException failed && failed.isOutage();
	}

	/**
	 * Warn of a call that runs without its lock. An outage may concern thousands of calls
	 * a second.
	 * @param ex the failure of the store
	 */
	void warn(Throwable ex) {
		int calls = this.unlocked.incrementAndGet();
		long now = this.nanoTime.getAsLong();
		long next = this.nextWarning.get();
		if (now - next >= 0 && this.nextWarning.compareAndSet(next, now + BETWEEN_WARNINGS.toNanos())) {
			this.unlocked.addAndGet(-calls);
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			logger.warn(
					"%s runs without its lock, because the lock store failed: %s. Calls without lock since the last such warning: %d. Next warning in %d s at the earliest"
						.formatted(this.method, cause.getMessage(), calls, BETWEEN_WARNINGS.toSeconds()));
		}
	}

}
