package io.dlock.aop.call;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.lang.Contract;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockStoreException;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.observation.CallObservation;
import io.dlock.transaction.LockedInvocation;
import io.dlock.transaction.TransactionIntegration;

/**
 * One call of a locked method: the rules of what happens to the method, its result and
 * its lock. {@link BlockingCall}, {@link StageCall} and {@link ReactiveCall} differ in
 * how they wait.
 * <p>
 * The key is evaluated at the call, before its arguments can change; the method may run
 * later and on another thread.
 */
class LockedCall implements LockedInvocation {

	private static final Log logger = LogFactory.getLog(LockedCall.class);

	private final LockedOperation operation;

	private final MethodInvocation invocation;

	private final InvocationSupport support;

	private final List<String> keys;

	private final LockRequest request;

	private CallObservation observation = CallObservation.NONE;

	LockedCall(LockedOperation operation, MethodInvocation invocation, InvocationSupport support) {
		this.operation = operation;
		this.invocation = invocation;
		this.support = support;
		List<String> evaluated = operation.key().evaluate(invocation.getArguments());
		this.request = operation.request(evaluated);
		this.keys = operation.held(evaluated);
	}

	/**
	 * Create another call of the same method with the same arguments.
	 */
	LockedCall(LockedCall call) {
		this.operation = call.operation;
		this.invocation = call.invocation;
		this.support = call.support;
		this.keys = call.keys;
		this.request = call.request;
	}

	TransactionIntegration transactions() {
		return this.support.transactions().get();
	}

	/**
	 * Wait for the locks.
	 * @return all of them, held
	 */
	LockSet acquire() {
		Integer limit = this.operation.limit();
		if (limit != null) {
			return this.support.acquirePermit(this.request, limit);
		}
		return this.operation.key().isSeveral() ? this.support.acquireAll(this.request, this.keys)
				: this.support.acquire(this.request);
	}

	/**
	 * Ask for the locks.
	 * @param outer handles that the caller holds
	 * @return all of them, to come
	 */
	CompletableFuture<LockSet> acquireAsync(List<LockHandle> outer) {
		Integer limit = this.operation.limit();
		if (limit != null) {
			return this.support.acquirePermitAsync(this.request, limit);
		}
		return this.operation.key().isSeveral() ? this.support.acquireAllAsync(this.request, this.keys, outer)
				: this.support.acquireAsync(this.request, outer);
	}

	CallObservation observation() {
		return this.observation;
	}

	/**
	 * Begin the observation of the call.
	 * @param parent the observation that it is part of, or {@code null} for that of the
	 * thread
	 */
	void observe(@Nullable Object parent) {
		this.observation = this.operation.observe(this.keys, parent);
	}

	@Override
	public List<String> keys() {
		return this.keys;
	}

	@Override
	public LockRegistry registry() {
		return this.support.registry().get();
	}

	@Override
	public boolean isPermit() {
		return this.operation.limit() != null;
	}

	@Override
	public Method method() {
		return this.invocation.getMethod();
	}

	@Override
	public Class<?> targetClass() {
		return ProxyAdvice.targetClass(this.invocation);
	}

	@Override
	public <T> @Nullable T advice(Class<T> type) {
		return ProxyAdvice.find(this.invocation, type);
	}

	@Override
	public boolean isLossIgnored() {
		return this.operation.onLost() == OnLost.IGNORE;
	}

	boolean isInterrupting() {
		return this.operation.onLost() == OnLost.INTERRUPT;
	}

	/**
	 * Run the method under the lock.
	 * @param locks the granted locks
	 * @return the result of the method
	 * @throws Throwable if the method fails
	 */
	@Nullable Object run(LockSet locks) throws Throwable {
		return run(locks, this.invocation);
	}

	/**
	 * Run the method under the lock, on any thread and once more for each call: a proxy's
	 * invocation can proceed once.
	 * @param locks the granted locks
	 * @return the result of the method
	 * @throws Throwable if the method fails
	 */
	@Nullable Object runClone(LockSet locks) throws Throwable {
		return run(locks, invocableClone());
	}

	private MethodInvocation invocableClone() {
		return (this.invocation instanceof ProxyMethodInvocation proxied) ? proxied.invocableClone() : this.invocation;
	}

	private @Nullable Object run(LockSet locks, MethodInvocation body) throws Throwable {
		List<Long> tokens = tokens(locks);
		this.observation.acquired(locks, tokens);
		if (!this.support.isLogged()) {
			return runInterruptibly(locks, body);
		}
		MdcEntries outer = MdcEntries.shown();
		MdcEntries.of(tokens, this.operation.reason()).show();
		try {
			return runInterruptibly(locks, body);
		}
		finally {
			outer.show();
		}
	}

	private @Nullable Object runInterruptibly(LockSet locks, MethodInvocation body) throws Throwable {
		return isInterrupting() ? new InterruptibleMethod(locks).run(body) : body.proceed();
	}

	/**
	 * The fencing tokens in the order of the keys.
	 */
	private List<Long> tokens(LockSet locks) {
		return (this.keys.size() == 1) ? List.of(locks.handles().get(0).token())
				: this.keys.stream().map((key) -> locks.handle(key).token()).toList();
	}

	/**
	 * The log entries for the threads on which the work of the method goes on.
	 * @param locks the granted locks
	 * @return the entries, or {@code null} if there are none
	 */
	@Nullable MdcEntries loggedElsewhere(LockSet locks) {
		return this.support.isLoggedElsewhere() ? MdcEntries.of(tokens(locks), this.operation.reason()) : null;
	}

	/**
	 * Do without the lock what the annotation says for that case.
	 * @param failure the reason why there is no lock
	 * @return the result of the fallback or of the method, or the value of a skipped call
	 * @throws Throwable the reason, or the failure of the fallback or the method
	 */
	@Nullable Object runWithoutLock(Throwable failure) throws Throwable {
		Throwable reason = unwrapped(failure);
		boolean unlocked = this.operation.storeFailureHandler().isFailOpen(reason);
		if (reason instanceof LockStoreException || reason instanceof LockBusyException) {
			this.observation.refused(reason, unlocked);
		}
		if (unlocked) {
			this.operation.storeFailureHandler().warn(reason);
			return invocableClone().proceed();
		}
		Method fallback = this.operation.fallback(reason);
		if (fallback != null) {
			logger.debug("Called the fallback of " + this.operation.reason(), reason);
			return call(fallback);
		}
		if (reason instanceof LockBusyException && this.operation.onBusy() == OnBusy.SKIP) {
			logger.debug("Skipped " + this.operation.reason(), reason);
			return this.operation.returnType().emptyValue();
		}
		throw reason;
	}

	private @Nullable Object call(Method fallback) throws Throwable {
		Object target = this.invocation.getThis();
		if (!fallback.getDeclaringClass().isInstance(target)) {
			// the proxy has the method, and its target may not
			Object proxy = ProxyAdvice.proxy(this.invocation);
			target = (proxy != null) ? proxy : target;
		}
		return AopUtils.invokeJoinpointUsingReflection(target, fallback, this.invocation.getArguments());
	}

	/**
	 * Look at a value whose type says nothing.
	 * @param value a value that the method has returned
	 * @return the failure if the value stands for work that is not done, or {@code null}
	 */
	@Nullable Throwable unfinished(@Nullable Object value) {
		return this.operation.unfinished(value, method());
	}

	/**
	 * The outcome for the caller when the work is done and the lock is released.
	 * @param value the result of the work
	 * @param failure the failure of the work, or {@code null}
	 * @param release the failure of the release, or {@code null}
	 * @return the failure for the caller, or {@code null} if the caller gets the value
	 */
	@Nullable Throwable outcome(@Nullable Object value, @Nullable Throwable failure, @Nullable Throwable release) {
		Throwable ofWork = (failure != null) ? failure : unfinished(value);
		Throwable loss = unwrapped(release);
		if (loss instanceof LockLostException) {
			this.observation.lost();
		}
		if (loss == null || loss == ofWork || (loss instanceof LockLostException && isLossIgnored())) {
			return ofWork;
		}
		if (ofWork == null) {
			return loss;
		}
		ofWork.addSuppressed(loss);
		return ofWork;
	}

	/**
	 * Futures wrap the failures of those they depend on.
	 * @param failure a failure, or {@code null}
	 * @return its cause, if it wraps one
	 */
	@Contract("!null -> !null")
	static @Nullable Throwable unwrapped(@Nullable Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	@Override
	public String toString() {
		return this.operation.annotation() + " method " + method();
	}

}
