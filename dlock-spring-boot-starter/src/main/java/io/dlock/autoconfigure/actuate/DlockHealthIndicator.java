package io.dlock.autoconfigure.actuate;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

import io.dlock.console.LockConsole;
import io.dlock.console.StoreReport;

/**
 * Reports whether locks can be taken: takes one and releases it. The health is up, with
 * warnings about the settings of the server, as long as that works.
 * <p>
 * One check runs at a time, on a thread of its own, and serves all requests until its
 * result is old. No request waits for it longer than the command timeout.
 */
final class DlockHealthIndicator implements HealthIndicator {

	private static final Log logger = LogFactory.getLog(DlockHealthIndicator.class);

	/** Short, so that a store that is back is noticed soon. */
	private static final Duration LONGEST_USE_OF_A_FAILURE = Duration.ofSeconds(1);

	private final LockConsole console;

	private final Duration timeout;

	private final Duration interval;

	private final ReentrantLock starting = new ReentrantLock();

	/** Guarded by {@code starting}. */
	private @Nullable Check latest;

	/**
	 * Create the indicator.
	 * @param console checks the store
	 * @param timeout how long to wait for an answer
	 * @param interval how long to use an answer
	 */
	DlockHealthIndicator(LockConsole console, Duration timeout, Duration interval) {
		this.console = console;
		this.timeout = timeout;
		this.interval = interval;
	}

	@Override
	public Health health() {
		try {
			return health(check().task.get(this.timeout.toNanos(), TimeUnit.NANOSECONDS).report);
		}
		catch (TimeoutException ex) {
			return down("No lock was taken and released within " + this.timeout.toMillis() + " ms");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return down("The check was interrupted");
		}
		catch (ExecutionException | CancellationException ex) {
			logger.debug("The check of the locks failed", ex);
			return down("The check failed: " + ((ex.getCause() != null) ? ex.getCause() : ex).getMessage());
		}
	}

	private Check check() {
		this.starting.lock();
		try {
			Check current = this.latest;
			if (current == null || current.isStale(this.interval)) {
				current = new Check(this.console);
				this.latest = current;
				current.start();
			}
			return current;
		}
		finally {
			this.starting.unlock();
		}
	}

	private static Health down(String reason) {
		return Health.down().withDetail("failure", reason).build();
	}

	private static Health health(StoreReport report) {
		Health.Builder health = (report.failure() == null) ? Health.up() : Health.down();
		health.withDetail("store", report.store());
		addIfPresent(health, "failure", report.failure());
		addIfPresent(health, "server", report.server());
		addIfPresent(health, "role", report.role());
		health.withDetail("took", report.took().toMillis() + " ms");
		if (!report.warnings().isEmpty()) {
			health.withDetail("warnings", report.warnings());
		}
		return health.build();
	}

	private static void addIfPresent(Health.Builder health, String name, @Nullable String value) {
		if (value != null) {
			health.withDetail(name, value);
		}
	}

	/**
	 * A report and its time.
	 *
	 * @param report the report
	 * @param nanos the time
	 */
	private record Answer(StoreReport report, long nanos) {

	}

	/**
	 * A check that runs or has run.
	 */
	private static final class Check {

		private final FutureTask<Answer> task;

		Check(LockConsole console) {
			this.task = new FutureTask<>(() -> new Answer(console.check(), System.nanoTime()));
		}

		void start() {
			try {
				Thread thread = new Thread(null, this.task, "dlock-health", 0, false);
				thread.setDaemon(true);
				thread.start();
			}
			catch (OutOfMemoryError ex) {
				// no thread could be created: the next request tries again
				logger.debug("No thread could be started to check the locks", ex);
				this.task.cancel(false);
			}
		}

		boolean isStale(Duration interval) {
			if (!this.task.isDone()) {
				return false;
			}
			try {
				Answer answer = this.task.get();
				Duration age = Duration.ofNanos(System.nanoTime() - answer.nanos);
				return age.compareTo(interval) >= 0
						|| (answer.report.failure() != null && age.compareTo(LONGEST_USE_OF_A_FAILURE) >= 0);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return false;
			}
			catch (ExecutionException | CancellationException ex) {
				return true;
			}
		}

	}

}
