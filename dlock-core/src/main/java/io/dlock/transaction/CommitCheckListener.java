package io.dlock.transaction;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
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
 * Prevents the commit of a transaction whose thread has lost a lock. A transaction
 * manager calls this after all synchronizations, right before the commit, and rolls back
 * if it throws. A manager has one for all contexts.
 */
final class CommitCheckListener implements TransactionExecutionListener {

	private static final Log logger = LogFactory.getLog(CommitCheckListener.class);

	/** Weak, because this class is not notified of releases. */
	private static final Set<LockHandle> LOSS_IGNORED = Collections
		.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

	/** Nested handles of a lock have one place. */
	private static final Comparator<LockHandle> STORAGE_ORDER = Comparator
		.comparing((LockHandle lock) -> StorageKey.of(lock.key()))
		.thenComparingLong(LockHandle::token);

	/** Guards of all contexts that share the transaction manager. */
	private final List<Supplier<? extends CommitGuard>> guards = new CopyOnWriteArrayList<>();

	/**
	 * Ask a guard before each commit, as well as those of other contexts.
	 * @param guard the guard of a context
	 */
	void add(Supplier<? extends CommitGuard> guard) {
		if (!this.guards.contains(guard)) {
			this.guards.add(guard);
		}
	}

	void remove(Supplier<? extends CommitGuard> guard) {
		this.guards.remove(guard);
	}

	/**
	 * Let transactions commit although this lock is lost.
	 */
	static void ignoreLoss(LockHandle lock) {
		LOSS_IGNORED.add(lock);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		List<LockHandle> locks = locks();
		if (locks.isEmpty()) {
			return;
		}
		List<LockHandle> checked = check(transaction.getTransactionName(), locks);
		if (this.guards.isEmpty()) {
			return;
		}
		Set<LockHandle> ordered = new TreeSet<>(STORAGE_ORDER);
		ordered.addAll(checked);
		this.guards.stream()
			.<CommitGuard>map(Supplier::get)
			.distinct()
			.forEach((guard) -> ordered.forEach((lock) -> guard.check(transaction, lock)));
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
	 * @return the locks to check further
	 * @throws LockLostException if one is lost
	 */
	static List<LockHandle> check(@Nullable String transaction, List<LockHandle> locks) {
		List<LockHandle> checked = locks.stream().filter((lock) -> !LOSS_IGNORED.contains(lock)).toList();
		return checked.stream().filter((lock) -> isHeld(transaction, lock)).toList();
	}

	/**
	 * Check that a lock is valid.
	 * @param transaction the name of the transaction, or {@code null}
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
