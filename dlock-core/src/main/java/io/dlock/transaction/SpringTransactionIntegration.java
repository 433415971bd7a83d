package io.dlock.transaction;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.aopalliance.aop.Advice;
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
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import reactor.util.context.ContextView;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSet;
import io.dlock.ReactiveLockContext;

/**
 * Transactions of spring-tx, which are bound to a thread or travel in a Reactor context.
 */
final class SpringTransactionIntegration implements TransactionIntegration {

	private static final Log logger = LogFactory.getLog(SpringTransactionIntegration.class);

	private static final String RUNNING = ". Call it before the transaction begins, or let the transaction begin in it";

	private static final String NO_SYNCHRONIZATION = ", and whose manager cannot tell when it has ended "
			+ "(it has no transaction synchronization, like those of Kafka, JMS and RabbitMQ). Call it before the "
			+ "transaction begins, let the transaction begin in it, or let it leave the transaction: "
			+ "@Transactional with REQUIRES_NEW or NOT_SUPPORTED and the name of the other manager";

	private static final String COMPLETING = ", and whose completion calls it (as with a @TransactionalEventListener): "
			+ "its changes are committed after its lock is released. "
			+ "Give it a transaction of its own: @Transactional with REQUIRES_NEW";

	/** The propagations of methods that do not run in the transaction of their caller. */
	private static final Set<Integer> OUTSIDE = Set.of(TransactionDefinition.PROPAGATION_REQUIRES_NEW,
			TransactionDefinition.PROPAGATION_NOT_SUPPORTED, TransactionDefinition.PROPAGATION_NEVER);

	private final InsideTransaction inside;

	private final boolean commitCheck;

	private final @Nullable Supplier<? extends CommitGuard> guard;

	private final Set<CommitCheckListener> guarded = ConcurrentHashMap.newKeySet();

	private final Executor executor;

	private final OpenEntityManagerWarning openEntityManagerWarning = new OpenEntityManagerWarning();

	/** Set when all managers are known. */
	private volatile boolean severalManagers;

	/** The manager with transaction synchronization, if there is only one. */
	private volatile @Nullable String synchronizedManager;

	private volatile boolean severalReactiveManagers;

	private final Set<Method> warned = ConcurrentHashMap.newKeySet();

	private final Set<Method> warnedOfCompletion = ConcurrentHashMap.newKeySet();

	/**
	 * Create the integration.
	 * @param inside the rule for a method that is called inside a transaction
	 * @param commitCheck whether the locks are checked before a commit
	 * @param guard an additional check before a commit, or {@code null}
	 * @param executor releases locks where the calling thread must not block
	 */
	SpringTransactionIntegration(InsideTransaction inside, boolean commitCheck,
			@Nullable Supplier<? extends CommitGuard> guard, Executor executor) {
		this.inside = inside;
		this.commitCheck = commitCheck;
		this.guard = guard;
		this.executor = executor;
	}

	@Override
	public void checkEntry(LockedInvocation call) {
		if (call.isPermit()) {
			return;
		}
		this.openEntityManagerWarning.check(call.method(), () -> isHeld(call));
		failIfRefused(call);
		checkCompletion(call);
		if (this.inside != InsideTransaction.DEFER || !isSynchronized()) {
			return;
		}
		TransactionLocks kept = ThreadTransactionLocks.locks();
		if (kept != null) {
			call.keys()
				.stream()
				.filter((key) -> call.held(key) == null)
				.forEach((key) -> kept.bindToThread(call.registry(), key));
		}
	}

	/**
	 * A caller that already holds the keys is not refused: it does not begin to hold them
	 * inside the transaction.
	 */
	private void failIfRefused(LockedInvocation call) {
		if (this.inside == InsideTransaction.IGNORE) {
			return;
		}
		boolean unsynchronized = UnsynchronizedTransactionListener.isInside();
		boolean refused = unsynchronized || (this.inside == InsideTransaction.FAIL && isInside());
		if (refused && !isHeld(call) && !leavesTransaction(call)) {
			throw refusal(call.method(), unsynchronized ? NO_SYNCHRONIZATION : RUNNING);
		}
	}

	private static IllegalTransactionStateException refusal(Method method, String reason) {
		return new IllegalTransactionStateException(called(method, reason));
	}

	private static String called(Method method, String reason) {
		return "%s is locked and was called inside a transaction that already runs%s".formatted(name(method), reason);
	}

	/**
	 * A callback after the commit or the completion writes with the connection of the
	 * transaction, which then commits once more, after all callbacks.
	 */
	private void checkCompletion(LockedInvocation call) {
		boolean completing = TransactionSynchronizationManager.isActualTransactionActive() && !isInside();
		if (!completing || this.inside == InsideTransaction.IGNORE || isHeld(call)
				|| leavesTransaction(call, (attribute) -> true)) {
			return;
		}
		if (this.inside == InsideTransaction.FAIL) {
			throw refusal(call.method(), COMPLETING);
		}
		if (this.warnedOfCompletion.add(call.method())) {
			logger.warn(called(call.method(), COMPLETING));
		}
	}

	private static boolean isInside() {
		return isSynchronized() && !CommittingTransactionListener.isCommitted();
	}

	private static boolean isSynchronized() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * Whether the method has nothing to do with the transaction of its caller, which is
	 * suspended while it runs: its own ends before the lock. With several managers it may
	 * be that of another, which is not suspended.
	 */
	private boolean leavesTransaction(LockedInvocation call) {
		String only = this.synchronizedManager;
		return leavesTransaction(call,
				(attribute) -> !this.severalManagers || (only != null && only.equals(attribute.getQualifier())));
	}

	private static boolean leavesTransaction(LockedInvocation call, Predicate<TransactionAttribute> ofItsCaller) {
		if (call.isPermit()) {
			return true;
		}
		TransactionInterceptor advice = call.advice(TransactionInterceptor.class);
		TransactionAttributeSource source = (advice != null) ? advice.getTransactionAttributeSource() : null;
		TransactionAttribute attribute = (source != null)
				? source.getTransactionAttribute(call.method(), call.targetClass()) : null;
		return attribute != null && OUTSIDE.contains(attribute.getPropagationBehavior()) && ofItsCaller.test(attribute);
	}

	/**
	 * Whether the calling thread holds all keys.
	 */
	private static boolean isHeld(LockedInvocation call) {
		return call.keys().stream().allMatch((key) -> call.held(key) != null);
	}

	@Override
	public LockSet enter(LockSet locks, LockedInvocation call) {
		granted(locks, call.isLossIgnored());
		if (this.inside != InsideTransaction.DEFER || !isInside() || leavesTransaction(call)) {
			return locks;
		}
		if (!locks.handles().stream().allMatch((handle) -> isNested(handle, call.registry()))) {
			warn(call.method());
		}
		return ThreadTransactionLocks.join().keep(locks, call.isLossIgnored());
	}

	private static boolean isNested(LockHandle handle, LockRegistry registry) {
		return LockContext.find(handle.key(), (other) -> other != handle && registry.owns(other)) != null;
	}

	private void warn(Method method) {
		if (this.warned.add(method)) {
			logger
				.warn(("%s was called inside a transaction that already runs: its lock is kept until that transaction "
						+ "has ended. Data that the transaction has read before may be out of date. "
						+ "Call it before the transaction begins, or set dlock.transaction.inside to fail or ignore")
					.formatted(name(method)));
		}
	}

	@Override
	public void granted(LockSet locks, boolean lossIgnored) {
		if (this.commitCheck && lossIgnored) {
			locks.handles().forEach(CommitCheckListener::ignoreLoss);
		}
	}

	@Override
	public AsyncLockRetention enterLater(LockedInvocation call) {
		failIfRefused(call);
		if (this.inside != InsideTransaction.DEFER || !isInside() || leavesTransaction(call)) {
			return AsyncLockRetention.NONE;
		}
		TransactionLocks locks = ThreadTransactionLocks.join();
		if (call.keys()
			.stream()
			.anyMatch((key) -> call.held(key) == null && locks.shared(call.registry(), key) == null)) {
			warn(call.method());
		}
		return locks.call(call.registry(), call.keys(), call.isLossIgnored());
	}

	@Override
	public AsyncLockRetention enterLater(LockedInvocation call, ContextView context) {
		if (this.inside == InsideTransaction.IGNORE) {
			return AsyncLockRetention.NONE;
		}
		var transaction = ReactiveTransactionLocks.find(context);
		if (transaction == null) {
			return enterLater(call);
		}
		boolean held = call.keys()
			.stream()
			.allMatch((key) -> ReactiveLockContext.find(context, key, call.registry()::owns).isPresent()
					|| call.held(key) != null);
		if (leavesTransaction(call, (attribute) -> !this.severalReactiveManagers)) {
			return AsyncLockRetention.NONE;
		}
		if (this.inside == InsideTransaction.FAIL) {
			if (held) {
				return AsyncLockRetention.NONE;
			}
			throw refusal(call.method(), RUNNING);
		}
		if (!held) {
			warn(call.method());
		}
		return ReactiveTransactionLocks.join(transaction, this::checkCommitOf, this.executor)
			.call(call.registry(), call.keys(), call.isLossIgnored());
	}

	private void checkCommitOf(ReactiveTransactionLocks transaction) {
		if (this.commitCheck) {
			CommitCheckListener.check(transaction.name(), transaction.locks().handles());
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
	public void listenTo(Object bean) {
		if (!(bean instanceof ConfigurableTransactionManager manager && bean instanceof PlatformTransactionManager)) {
			return;
		}
		if (this.commitCheck) {
			CommitCheckListener listener = ManagerListeners.of(manager, CommitCheckListener.class,
					CommitCheckListener::new);
			if (this.guard != null) {
				listener.add(this.guard);
				this.guarded.add(listener);
			}
		}
		if (this.inside != InsideTransaction.IGNORE) {
			ManagerListeners.of(manager, CommittingTransactionListener.class, CommittingTransactionListener::new);
		}
		if (this.severalManagers && this.inside == InsideTransaction.DEFER) {
			ManagerListeners.of(manager, BegunTransactionListener.class, BegunTransactionListener::new);
		}
		if (isUnsynchronized(bean)) {
			ManagerListeners.of(manager, UnsynchronizedTransactionListener.class,
					UnsynchronizedTransactionListener::new);
		}
	}

	private static boolean isUnsynchronized(Object manager) {
		return manager instanceof AbstractPlatformTransactionManager platform
				&& platform.getTransactionSynchronization() == AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER;
	}

	@Override
	public void listenToAll(ListableBeanFactory beans, boolean reactive) {
		this.severalManagers = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans,
				PlatformTransactionManager.class, true, false).length > 1;
		this.severalReactiveManagers = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans,
				ReactiveTransactionManager.class, true, false).length > 1;
		Map<String, PlatformTransactionManager> managers = BeanFactoryUtils.beansOfTypeIncludingAncestors(beans,
				PlatformTransactionManager.class, true, false);
		managers.values().forEach(this::listenTo);
		List<String> synchronizedManagers = managers.entrySet()
			.stream()
			.filter((each) -> !isUnsynchronized(each.getValue()))
			.map(Map.Entry::getKey)
			.toList();
		this.synchronizedManager = (synchronizedManagers.size() == 1) ? synchronizedManagers.get(0) : null;
		if (reactive && this.commitCheck) {
			BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, ReactiveTransactionManager.class, true, false)
				.forEach(SpringTransactionIntegration::warnUnlessChecking);
		}
	}

	private static void warnUnlessChecking(String name, ReactiveTransactionManager manager) {
		if (!(manager instanceof LockCheckingTransactionManager)) {
			logger.warn(("The transaction manager '%s' commits transactions even if their lock is lost: reactive "
					+ "transaction managers do not pass on the context of a transaction. Wrap the manager in a %s, or set "
					+ "dlock.transaction.commit-check=off if that is intended")
				.formatted(name, LockCheckingTransactionManager.class.getName()));
		}
	}

	/**
	 * The listeners remain: a thread may still commit with a lock of the context that
	 * ends.
	 */
	@Override
	public void close() {
		Supplier<? extends CommitGuard> own = this.guard;
		if (own != null) {
			this.guarded.forEach((listener) -> listener.remove(own));
		}
	}

}
