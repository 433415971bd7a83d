package io.dlock.autoconfigure;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalyzedException;

import io.dlock.store.StoreMisconfiguredException;

/**
 * Repeats the first use of a store for as long as its failure may be transient: the
 * machine may be busy with the start, and the store may start at the same time. For the
 * auto-configurations of dlock only.
 *
 * @param timeout how long to try
 */
public record StartupRetry(Duration timeout) {

	private static final Log logger = LogFactory.getLog(StartupRetry.class);

	private static final String WITHOUT = " To start without the store, set dlock.startup-check=false. Locked methods then fail until it is available.";

	private static final Duration PAUSE = Duration.ofMillis(200);

	/**
	 * Use a store.
	 * @param attempt uses it
	 * @throws UnusableStoreException if the failure is definite, or the time is over
	 * @throws StoreMisconfiguredException if the store cannot be used as it is configured
	 */
	public void use(Runnable attempt) {
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
				StartupFailure failure = StartupFailure.of(ex);
				Duration tried = Duration.ofNanos(System.nanoTime() - begin);
				if (!failure.isTransient() || tried.plus(PAUSE).compareTo(this.timeout) >= 0 || !pause()) {
					throw new UnusableStoreException(failure, tried, ex);
				}
				if (first) {
					logger.info("The lock store is not usable yet; retrying for up to %d ms: %s"
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
	public static final class UnusableStoreException extends RuntimeException {

		private final StartupFailure failure;

		private final Duration tried;

		private final RuntimeException last;

		UnusableStoreException(StartupFailure failure, Duration tried, RuntimeException last) {
			super(last);
			this.failure = failure;
			this.tried = tried;
			this.last = last;
		}

		/**
		 * The failure of the last attempt.
		 * @return the exception
		 */
		public RuntimeException last() {
			return this.last;
		}

		/**
		 * The failure with its remedy.
		 * @param problem the failure in words, without a full stop
		 * @param backend the kind of the store, or {@code null} for one of the
		 * application
		 * @return the exception to throw
		 */
		public FailureAnalyzedException analyzed(String problem, @Nullable DlockBackend backend) {
			String action = this.failure.action(backend);
			if (!this.failure.isTransient()) {
				return new FailureAnalyzedException(problem + ".", action + WITHOUT, this.last);
			}
			return new FailureAnalyzedException(
					"%s. dlock retried for %d ms.".formatted(problem, this.tried.toMillis()),
					action + " To retry for longer, set dlock.startup-timeout." + WITHOUT, this.last);
		}

	}

}
