package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.OnLost;

/**
 * Transactions that are bound to a thread. Reactive ones are not seen here.
 */
final class SpringTransactions implements LockedTransactions {

	private static final Log logger = LogFactory.getLog(SpringTransactions.class);

	private static final String NO_SYNCHRONIZATION = ", and whose manager can not tell when it has ended "
			+ "(it has no transaction synchronization)";

	private final InsideTransaction inside;

	private final @Nullable CommitListener commits;

	private final UnsynchronizedTransactions unsynchronized = new UnsynchronizedTransactions();

	private final Set<Method> warned = ConcurrentHashMap.newKeySet();

	/**
	 * Create it.
	 * @param inside what to do inside a transaction
	 * @param commits what checks the locks before a commit, or {@code null}
	 */
	SpringTransactions(InsideTransaction inside, @Nullable CommitListener commits) {
		this.inside = inside;
		this.commits = commits;
	}

	/**
	 * A thread that holds the key already does not begin to hold it inside the
	 * transaction.
	 */
	@Override
	public void checkEntry(Method method, String key) {
		if (this.inside == InsideTransaction.IGNORE) {
			return;
		}
		boolean unsynchronized = UnsynchronizedTransactions.isInside();
		boolean inside = unsynchronized || (this.inside == InsideTransaction.FAIL && isInside());
		if (inside && held(key) == 0) {
			throw new IllegalTransactionStateException(("%s is locked and was called inside a transaction that already "
					+ "runs%s. Call it before the transaction begins, or let the transaction begin in it")
				.formatted(name(method), unsynchronized ? NO_SYNCHRONIZATION : ""));
		}
	}

	private static boolean isInside() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * How often the calling thread holds a key.
	 */
	private static long held(String key) {
		return LockContext.all().stream().filter((lock) -> lock.key().equals(key)).count();
	}

	@Override
	public LockHandle enter(LockHandle handle, LockedOperation operation, Method method) {
		if (this.commits != null && operation.onLost() == OnLost.IGNORE) {
			this.commits.exempt(handle);
		}
		if (this.inside != InsideTransaction.DEFER || !isInside()) {
			return handle;
		}
		if (held(handle.key()) < 2 && this.warned.add(method)) {
			logger
				.warn(("%s was called inside a transaction that already runs: its lock is kept until that transaction "
						+ "has ended, and what the transaction has read before may be out of date. "
						+ "Call it before the transaction begins, or set dlock.transaction.inside")
					.formatted(name(method)));
		}
		TransactionBoundHandle bound = new TransactionBoundHandle(handle, operation.onLost() != OnLost.IGNORE);
		TransactionSynchronizationManager.registerSynchronization(bound);
		return bound;
	}

	private static String name(Method method) {
		return ClassUtils.getQualifiedMethodName(method);
	}

	@Override
	public void checkCommitsOf(Object bean) {
		if (!(bean instanceof ConfigurableTransactionManager manager && bean instanceof PlatformTransactionManager)) {
			return;
		}
		if (this.commits != null) {
			listen(manager, this.commits);
		}
		if (bean instanceof AbstractPlatformTransactionManager platform && platform
			.getTransactionSynchronization() == AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER) {
			listen(manager, this.unsynchronized);
		}
	}

	@Override
	public void checkCommitsIn(ListableBeanFactory beans) {
		BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, PlatformTransactionManager.class, true, false)
			.values()
			.forEach(this::checkCommitsOf);
	}

	private static void listen(ConfigurableTransactionManager manager, TransactionExecutionListener listener) {
		if (!manager.getTransactionExecutionListeners().contains(listener)) {
			manager.addListener(listener);
		}
	}

}
