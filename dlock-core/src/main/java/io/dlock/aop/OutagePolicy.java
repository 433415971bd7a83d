package io.dlock.aop;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.LockStoreException;
import io.dlock.OnStoreFailure;

/**
 * What becomes of the calls of a method while the store fails.
 */
final class OutagePolicy {

	private static final Log logger = LogFactory.getLog(OutagePolicy.class);

	private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

	private final OnStoreFailure onStoreFailure;

	private final String method;

	private final @Nullable Method fallback;

	private final LongSupplier nanoTime;

	private final AtomicLong nextWarning;

	private final AtomicInteger unlocked = new AtomicInteger();

	/**
	 * Create a policy.
	 * @param onStoreFailure what to do, not the default
	 * @param method the method, for people
	 * @param fallback what to call instead, or {@code null}
	 * @param nanoTime the clock
	 */
	OutagePolicy(OnStoreFailure onStoreFailure, String method, @Nullable Method fallback, LongSupplier nanoTime) {
		this.onStoreFailure = onStoreFailure;
		this.method = method;
		this.fallback = fallback;
		this.nanoTime = nanoTime;
		this.nextWarning = new AtomicLong(nanoTime.getAsLong());
	}

	boolean isFailOpen() {
		return this.onStoreFailure == OnStoreFailure.PROCEED;
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
	 * What is done instead when the store failed.
	 * @param invocation the call, which holds no lock
	 * @param ex the failure
	 * @return what the method or its fallback returned
	 * @throws Throwable the failure, or what the method or its fallback threw
	 */
	@Nullable Object instead(MethodInvocation invocation, LockStoreException ex) throws Throwable {
		if (isFailOpen(ex)) {
			warn(ex);
			return invocation.proceed();
		}
		if (this.onStoreFailure == OnStoreFailure.FALLBACK && this.fallback != null) {
			logger.debug("Called the fallback of " + this.method, ex);
			return Fallbacks.call(this.fallback, invocation);
		}
		throw ex;
	}

	/**
	 * An outage may concern thousands of calls a second.
	 */
	private void warn(LockStoreException ex) {
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
