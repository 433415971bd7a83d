package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import reactor.util.context.ContextView;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.OnLost;
import io.dlock.ReactiveLockContext;

/**
 * Transactions of spring-tx, which are bound to a thread or travel in a Reactor context.
 */
final class SpringTransactions implements LockedTransactions {

	private static final Log logger = LogFactory.getLog(SpringTransactions.class);

	private static final String NO_SYNCHRONIZATION = ", and whose manager can not tell when it has ended "
			+ "(it has no transaction synchronization)";

	/** The propagations of methods that do not run in the transaction of their caller. */
	private static final Set<Integer> OUTSIDE = Set.of(TransactionDefinition.PROPAGATION_REQUIRES_NEW,
			TransactionDefinition.PROPAGATION_NOT_SUPPORTED, TransactionDefinition.PROPAGATION_NEVER);

	private final InsideTransaction inside;

	private final @Nullable CommitListener commits;

	private final UnsynchronizedTransactions unsynchronized = new UnsynchronizedTransactions();

	private final OpenEntityManagers openEntityManagers = new OpenEntityManagers();

	/** Until all managers are known there is one. */
	private volatile boolean severalManagers;

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

	@Override
	public void checkEntry(MethodInvocation invocation, String key) {
		this.openEntityManagers.check(invocation.getMethod(), key);
		failIfRefused(invocation, key);
		if (this.inside != InsideTransaction.DEFER || !isInside()) {
			return;
		}
		TransactionLocks kept = CallersTransaction.locks();
		if (kept != null && !isHeld(key)) {
			kept.bindToThread(key);
		}
	}

	/**
	 * A thread that holds the key already does not begin to hold it inside the
	 * transaction.
	 */
	private void failIfRefused(MethodInvocation invocation, String key) {
		if (this.inside == InsideTransaction.IGNORE) {
			return;
		}
		boolean unsynchronized = UnsynchronizedTransactions.isInside();
		boolean refused = unsynchronized || (this.inside == InsideTransaction.FAIL && isInside());
		if (refused && !isHeld(key) && !leavesTransaction(invocation)) {
			throw refusal(invocation.getMethod(), unsynchronized ? NO_SYNCHRONIZATION : "");
		}
	}

	private static IllegalTransactionStateException refusal(Method method, String addition) {
		return new IllegalTransactionStateException(("%s is locked and was called inside a transaction that already "
				+ "runs%s. Call it before the transaction begins, or let the transaction begin in it")
			.formatted(name(method), addition));
	}

	private static boolean isInside() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * Whether the method has nothing to do with the transaction of its caller, which is
	 * suspended while it runs: its own ends before the lock. With several managers it may
	 * be that of another, which is not suspended.
	 */
	private boolean leavesTransaction(MethodInvocation invocation) {
		if (this.severalManagers) {
			return false;
		}
		TransactionInterceptor advice = ProxyAdvice.find(invocation, TransactionInterceptor.class);
		TransactionAttributeSource source = (advice != null) ? advice.getTransactionAttributeSource() : null;
		TransactionAttribute attribute = (source != null)
				? source.getTransactionAttribute(invocation.getMethod(), ProxyAdvice.targetClass(invocation)) : null;
		return attribute != null && OUTSIDE.contains(attribute.getPropagationBehavior());
	}

	/**
	 * Whether the calling thread holds a key.
	 */
	private static boolean isHeld(String key) {
		return LockContext.find(key) != null;
	}

	@Override
	public LockHandle enter(LockHandle handle, LockedOperation operation, MethodInvocation invocation) {
		granted(handle, operation);
		if (this.inside != InsideTransaction.DEFER || !isInside() || leavesTransaction(invocation)) {
			return handle;
		}
		if (LockContext.find(handle.key(), (other) -> other != handle) == null) {
			warn(invocation.getMethod());
		}
		TransactionBoundHandle bound = new TransactionBoundHandle(handle, isLossTold(operation), () -> {
		});
		TransactionSynchronizationManager.registerSynchronization(new ReleaseAfterCompletion(bound));
		return bound;
	}

	private void warn(Method method) {
		if (this.warned.add(method)) {
			logger
				.warn(("%s was called inside a transaction that already runs: its lock is kept until that transaction "
						+ "has ended, and what the transaction has read before may be out of date. "
						+ "Call it before the transaction begins, or set dlock.transaction.inside")
					.formatted(name(method)));
		}
	}

	private static boolean isLossTold(LockedOperation operation) {
		return operation.onLost() != OnLost.IGNORE;
	}

	@Override
	public void granted(LockHandle handle, LockedOperation operation) {
		if (this.commits != null && !isLossTold(operation)) {
			this.commits.exempt(handle);
		}
	}

	@Override
	public LockKeeping enterLater(LockedOperation operation, MethodInvocation invocation, String key) {
		failIfRefused(invocation, key);
		if (this.inside != InsideTransaction.DEFER || !isInside() || leavesTransaction(invocation)) {
			return LockKeeping.NONE;
		}
		TransactionLocks locks = CallersTransaction.join();
		if (!isHeld(key) && !locks.keeps(key)) {
			warn(invocation.getMethod());
		}
		return locks.call(key, isLossTold(operation));
	}

	@Override
	public LockKeeping enterLater(LockedOperation operation, MethodInvocation invocation, String key,
			ContextView context) {
		if (this.inside == InsideTransaction.IGNORE) {
			return LockKeeping.NONE;
		}
		var transaction = SubscribersTransaction.find(context);
		if (transaction == null) {
			return enterLater(operation, invocation, key);
		}
		boolean held = ReactiveLockContext.find(context, key).isPresent();
		if (leavesTransaction(invocation)) {
			return LockKeeping.NONE;
		}
		if (this.inside == InsideTransaction.FAIL) {
			if (held) {
				return LockKeeping.NONE;
			}
			throw refusal(invocation.getMethod(), "");
		}
		if (!held) {
			warn(invocation.getMethod());
		}
		return SubscribersTransaction.join(transaction, this::checkCommitOf).call(key, isLossTold(operation));
	}

	private void checkCommitOf(SubscribersTransaction transaction) {
		if (this.commits != null) {
			this.commits.check(transaction.name(), transaction.locks().handles());
		}
	}

	private static String name(Method method) {
		return ClassUtils.getQualifiedMethodName(method);
	}

	@Override
	public boolean isTransaction(Advice advice) {
		return advice instanceof TransactionInterceptor;
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
	public void checkCommitsIn(ListableBeanFactory beans, boolean reactive) {
		this.severalManagers = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans,
				PlatformTransactionManager.class, true, false).length > 1;
		BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, PlatformTransactionManager.class, true, false)
			.values()
			.forEach(this::checkCommitsOf);
		if (reactive && this.commits != null) {
			BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, ReactiveTransactionManager.class, true, false)
				.forEach(SpringTransactions::warnUnlessChecking);
		}
	}

	private static void warnUnlessChecking(String name, ReactiveTransactionManager manager) {
		if (!(manager instanceof LockCheckingTransactionManager)) {
			logger.warn(("The transactions of '%s' are committed even if a lock is lost that they began in: reactive "
					+ "transaction managers tell nobody whose transaction it is. Wrap it in a %s, or set "
					+ "dlock.transaction.commit-check=off if that is meant")
				.formatted(name, LockCheckingTransactionManager.class.getName()));
		}
	}

	/**
	 * Releases a lock of the thread when its transaction is done.
	 */
	private record ReleaseAfterCompletion(TransactionBoundHandle lock) implements TransactionSynchronization {

		@Override
		public void afterCompletion(int status) {
			this.lock.transactionDone(status == STATUS_ROLLED_BACK);
		}

		/**
		 * After others as far as possible, which do their work under the lock.
		 */
		@Override
		public int getOrder() {
			return LOWEST_PRECEDENCE;
		}

	}

	private static void listen(ConfigurableTransactionManager manager, TransactionExecutionListener listener) {
		if (!manager.getTransactionExecutionListeners().contains(listener)) {
			manager.addListener(listener);
		}
	}

}
