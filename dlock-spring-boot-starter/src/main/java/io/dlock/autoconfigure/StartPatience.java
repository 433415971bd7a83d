package io.dlock.autoconfigure;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.diagnostics.FailureAnalyzedException;

import io.dlock.store.StoreMisconfiguredException;

/**
 * Uses a store for the first time, again and again for as long as its failure may pass:
 * the machine may be busy with the start, and the store may start at the same time.
 *
 * @param timeout how long to try
 */
record StartPatience(Duration timeout) {

	private static final Log logger = LogFactory.getLog(StartPatience.class);

	private static final String WITHOUT = " To start without it, set dlock.startup-check=false: locked methods fail until it is back.";

	private static final Duration PAUSE = Duration.ofMillis(200);

	/**
	 * Use a store.
	 * @param attempt uses it
	 * @throws FirstUseException if it cannot be used
	 */
	void use(Runnable attempt) {
		long begin = System.nanoTime();
		for (boolean first = true;; first = false) {
			try {
				attempt.run();
				return;
			}
			catch (StoreMisconfiguredException ex) {
				throw ex;
			}
			catch (RuntimeException ex) {
				StartFailure failure = StartFailure.of(ex);
				Duration tried = Duration.ofNanos(System.nanoTime() - begin);
				if (!failure.mayPass() || tried.plus(PAUSE).compareTo(this.timeout) >= 0 || !pause()) {
					throw new FirstUseException(failure, tried, ex);
				}
				if (first) {
					logger.info("The lock store does not work yet and is tried again for up to %d ms: %s"
						.formatted(this.timeout.toMillis(), ex.getMessage()));
				}
			}
		}
	}

	private static boolean pause() {
		try {
			Thread.sleep(PAUSE.toMillis());
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/**
	 * The store cannot be used.
	 */
	static final class FirstUseException extends RuntimeException {

		private final StartFailure failure;

		private final Duration tried;

		private final RuntimeException last;

		FirstUseException(StartFailure failure, Duration tried, RuntimeException last) {
			super(last);
			this.failure = failure;
			this.tried = tried;
			this.last = last;
		}

		RuntimeException last() {
			return this.last;
		}

		/**
		 * Describe the failure to a user.
		 * @param problem what failed, without a full stop
		 * @param redis whether the store is Redis, and not a database
		 * @return the exception to throw
		 */
		FailureAnalyzedException analyzed(String problem, boolean redis) {
			String action = this.failure.action(redis);
			if (!this.failure.mayPass()) {
				return new FailureAnalyzedException(problem + ".", action + WITHOUT, this.last);
			}
			return new FailureAnalyzedException("%s. It was tried for %d ms.".formatted(problem, this.tried.toMillis()),
					action + " To wait longer for it, set dlock.start-timeout." + WITHOUT, this.last);
		}

	}

}
