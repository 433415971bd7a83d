package io.dlock.transaction;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.util.StringUtils;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.store.StorageKey;

/**
 * Lets no transaction commit whose thread has lost a lock. A transaction manager calls
 * this after all synchronizations, right before the commit, and rolls back if it throws.
 */
final class CommitCheckListener implements TransactionExecutionListener {

	private static final Log logger = LogFactory.getLog(CommitCheckListener.class);

	/**
	 * Of all contexts, which may share a transaction manager. Weak, because their release
	 * is not told.
	 */
	private static final Set<LockHandle> EXEMPT = Collections
		.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

	private static final Comparator<LockHandle> STORAGE_ORDER = Comparator
		.comparing((lock) -> StorageKey.of(lock.key()));

	private final @Nullable Supplier<? extends CommitGuard> guard;

	CommitCheckListener(@Nullable Supplier<? extends CommitGuard> guard) {
		this.guard = guard;
	}

	/**
	 * Let transactions commit although this lock is lost.
	 * @param lock the lock
	 */
	void exempt(LockHandle lock) {
		EXEMPT.add(lock);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		List<LockHandle> locks = locks();
		if (locks.isEmpty()) {
			return;
		}
		List<LockHandle> checked = check(transaction.getTransactionName(), locks);
		if (this.guard != null && !checked.isEmpty()) {
			CommitGuard additional = this.guard.get();
			checked.stream().sorted(STORAGE_ORDER).forEach((lock) -> additional.check(transaction, lock));
		}
	}

	/**
	 * The locks of the thread, and those that its transaction keeps.
	 */
	private static List<LockHandle> locks() {
		List<LockHandle> locks = LockContext.all();
		TransactionLocks kept = ThreadTransactionLocks.locks();
		return (kept != null) ? Stream.concat(locks.stream(), kept.handles().stream()).distinct().toList() : locks;
	}

	/**
	 * Check that locks are valid.
	 * @param transaction the name of the transaction, or {@code null}
	 * @param locks the locks
	 * @return the locks to check further
	 * @throws LockLostException if one is lost
	 */
	List<LockHandle> check(@Nullable String transaction, List<LockHandle> locks) {
		List<LockHandle> checked = locks.stream().filter((lock) -> !EXEMPT.contains(lock)).toList();
		return checked.stream().filter((lock) -> isHeld(transaction, lock)).toList();
	}

	/**
	 * Check that a lock is valid.
	 * @param transaction the name of the transaction, or {@code null}
	 * @param lock the lock
	 * @return whether it is; if not, it was released
	 * @throws LockLostException if it is lost
	 */
	static boolean isHeld(@Nullable String transaction, LockHandle lock) {
		if (lock.isValid()) {
			return true;
		}
		try {
			lock.assertHeld();
			return true;
		}
		catch (LockLostException ex) {
			throw new LockLostException(ex.key(), ex.token(), "%s. The transaction%s is rolled back"
				.formatted(ex.reason(), StringUtils.hasText(transaction) ? " " + transaction : ""));
		}
		catch (IllegalStateException ex) {
			logger.debug("A lock was released before its transaction commits", ex);
			return false;
		}
	}

}
