package io.dlock.autoconfigure.actuate.console;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.LockException;
import io.dlock.LockInfo;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockConsole;
import io.dlock.console.LockList;
import io.dlock.console.StoreReport;

/**
 * The store as the viewers of the console see it, however many they are: it is listed
 * once in a second and checked once in ten seconds, and only while a viewer is there.
 */
final class ConsoleStore {

	private static final Log logger = LogFactory.getLog(ConsoleStore.class);

	static final int MAX_LOCKS = 10_000;

	private static final long LIST_NANOS = Duration.ofSeconds(1).toNanos();

	private static final long CHECK_NANOS = Duration.ofSeconds(10).toNanos();

	private static final long FAILED_CHECK_NANOS = Duration.ofSeconds(2).toNanos();

	private final LockConsole console;

	private final ReentrantLock listing = new ReentrantLock();

	private final AtomicBoolean checking = new AtomicBoolean();

	/** Guarded by {@code listing}. */
	private @Nullable Listed listed;

	private volatile @Nullable Checked checked;

	ConsoleStore(LockConsole console) {
		this.console = console;
	}

	LocalLocks local() {
		return this.console.local();
	}

	/**
	 * The locks of the store, at most a second old. Callers share one list.
	 * @return the locks
	 */
	Listed list() {
		this.listing.lock();
		try {
			Listed current = this.listed;
			if (current == null || System.nanoTime() - current.nanos() > LIST_NANOS) {
				LockList locks = this.console.list(MAX_LOCKS);
				current = new Listed(locks, System.nanoTime());
				this.listed = current;
			}
			return current;
		}
		finally {
			this.listing.unlock();
		}
	}

	List<LockInfo> find(String key) {
		try {
			return this.console.findAll(key);
		}
		catch (LockException | IllegalArgumentException ex) {
			return List.of();
		}
	}

	/**
	 * The latest check of the store. A new one is started if that is old, and not waited
	 * for.
	 * @return the latest check, or {@code null} if none has ended
	 */
	@Nullable Checked check() {
		Checked current = this.checked;
		if ((current == null || current.isOld()) && this.checking.compareAndSet(false, true)) {
			start();
		}
		return current;
	}

	private void start() {
		try {
			Thread thread = new Thread(null, this::runCheck, "dlock-console", 0, false);
			thread.setDaemon(true);
			thread.start();
		}
		catch (OutOfMemoryError ex) {
			// no thread could be created: the next request tries again
			logger.debug("No thread could be started to check the locks", ex);
			this.checking.set(false);
		}
	}

	private void runCheck() {
		try {
			this.checked = new Checked(this.console.check(), System.nanoTime());
		}
		catch (RuntimeException ex) {
			logger.debug("The check of the locks failed", ex);
		}
		finally {
			this.checking.set(false);
		}
	}

	/**
	 * A list and its time.
	 *
	 * @param locks the list
	 * @param nanos the time
	 */
	record Listed(LockList locks, long nanos) {

		Duration age() {
			return Duration.ofNanos(System.nanoTime() - this.nanos);
		}

	}

	/**
	 * The result of a check and its time.
	 *
	 * @param report the result
	 * @param nanos the time
	 */
	record Checked(StoreReport report, long nanos) {

		Duration age() {
			return Duration.ofNanos(System.nanoTime() - this.nanos);
		}

		boolean isOld() {
			return age().toNanos() > ((this.report.failure() != null) ? FAILED_CHECK_NANOS : CHECK_NANOS);
		}

	}

}
