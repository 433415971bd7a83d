package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.lang.Contract;
import reactor.util.context.ContextView;

import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.OnBusy;
import io.dlock.OnLost;

/**
 * A call of a locked method that waits for its lock without a thread. The key is
 * evaluated now, before anybody can change the arguments; the body may run later, on any
 * thread, and more than once.
 */
final class LockedCall {

	private static final Log logger = LogFactory.getLog(LockedCall.class);

	private final LockedOperation operation;

	private final MethodInvocation invocation;

	private final Surroundings surroundings;

	private final LockRegistry registry;

	private final LockedTransactions transactions;

	private final LockRequest request;

	LockedCall(LockedOperation operation, MethodInvocation invocation, Surroundings surroundings) {
		this.operation = operation;
		this.invocation = invocation;
		this.surroundings = surroundings;
		this.registry = surroundings.registry().get();
		this.transactions = surroundings.transactions().get();
		this.request = operation.request(operation.key().evaluate(invocation.getArguments()));
	}

	String key() {
		return this.request.key();
	}

	/**
	 * Enter the transaction of the calling thread, if there is one.
	 * @return who keeps the lock
	 */
	LockKeeping enter() {
		return this.transactions.enterLater(this.operation, this.invocation, key());
	}

	/**
	 * Enter the transaction of a subscriber, or of the calling thread, if there is one.
	 * @param context the context of the subscriber
	 * @return who keeps the lock
	 */
	LockKeeping enter(ContextView context) {
		return this.transactions.enterLater(this.operation, this.invocation, key(), context);
	}

	/**
	 * The call begins, or a subscription to it.
	 * @param parent the observation that it is part of, or {@code null} for that of the
	 * thread
	 * @return who is to be told how it goes
	 */
	CallObservation observe(@Nullable Object parent) {
		return this.operation.observe(key(), parent);
	}

	/**
	 * Ask for the lock.
	 * @param outer the lock of this key that the caller holds, or {@code null}
	 * @return the handle to come
	 */
	CompletableFuture<LockHandle> acquire(@Nullable LockHandle outer) {
		return Surroundings.answered((outer != null) ? this.registry.acquireAsync(this.request, outer)
				: this.registry.acquireAsync(this.request), this.request);
	}

	/**
	 * The lock of this key that the calling thread holds.
	 * @return the handle, or {@code null}
	 */
	@Nullable LockHandle heldByThread() {
		return LockContext.find(key());
	}

	/**
	 * Run the method, which sees its handle.
	 * @param handle the granted lock
	 * @param observation who is told
	 * @return what it returned
	 * @throws Throwable what it threw
	 */
	@Nullable Object run(LockHandle handle, CallObservation observation) throws Throwable {
		this.transactions.granted(handle, this.operation);
		MethodInvocation body = body();
		observation.acquired(handle);
		CallObservation.Scope scope = observation.open();
		LockContext.Binding binding = LockContext.bind(handle);
		try {
			return this.surroundings.isLogged() ? logged(handle, body) : run(handle, body);
		}
		finally {
			binding.close();
			scope.close();
		}
	}

	private @Nullable Object logged(LockHandle handle, MethodInvocation body) throws Throwable {
		LoggingScope scope = new LoggingScope(handle, this.operation.reason());
		try {
			return run(handle, body);
		}
		finally {
			scope.end();
		}
	}

	/**
	 * What is logged elsewhere on behalf of the method.
	 * @param handle the granted lock
	 * @return the entries, or {@code null} if they can not or shall not be shown
	 */
	@Nullable LogEntries loggedElsewhere(LockHandle handle) {
		return this.surroundings.isLoggedElsewhere() ? LogEntries.of(handle, this.operation.reason()) : null;
	}

	private @Nullable Object run(LockHandle handle, MethodInvocation body) throws Throwable {
		return isInterrupting() ? new InterruptibleBody(handle).run(body) : body.proceed();
	}

	/**
	 * An invocation can proceed once.
	 */
	private MethodInvocation body() {
		return (this.invocation instanceof ProxyMethodInvocation proxied) ? proxied.invocableClone() : this.invocation;
	}

	boolean isLossIgnored() {
		return this.operation.onLost() == OnLost.IGNORE;
	}

	boolean isInterrupting() {
		return this.operation.onLost() == OnLost.INTERRUPT;
	}

	/**
	 * What is done instead when there is no lock.
	 * @param failure why there is none
	 * @param skipped what a skipped call returns
	 * @param observation who is told
	 * @return what the fallback returned, or what a skipped call returns
	 * @throws Throwable the failure, if nothing is done instead, or that of the fallback
	 */
	@Nullable Object instead(Throwable failure, Supplier<? extends @Nullable Object> skipped, CallObservation observation)
			throws Throwable {
		Throwable reason = unwrapped(failure);
		if (reason instanceof LockStoreException || reason instanceof LockBusyException) {
			observation.refused(reason, this.operation.outage().isFailOpen(reason));
		}
		CallObservation.Scope scope = observation.open();
		try {
			return instead(reason, skipped);
		}
		finally {
			scope.close();
		}
	}

	private @Nullable Object instead(Throwable reason, Supplier<? extends @Nullable Object> skipped) throws Throwable {
		if (reason instanceof LockStoreException outage) {
			return this.operation.outage().instead(body(), outage);
		}
		if (reason instanceof LockBusyException) {
			Method fallback = this.operation.fallback();
			if (fallback != null) {
				return Fallbacks.call(fallback, this.invocation);
			}
			if (this.operation.onBusy() == OnBusy.SKIP) {
				logger.debug("Skipped " + this.operation.reason(), reason);
				return skipped.get();
			}
		}
		throw reason;
	}

	/**
	 * Release the lock.
	 * @param handle the granted lock
	 * @return when it is released
	 */
	static CompletableFuture<@Nullable Void> release(LockHandle handle) {
		CompletableFuture<@Nullable Void> released = handle.releaseAsync();
		// that of a mock
		return (released != null) ? released : CompletableFuture.completedFuture(null);
	}

	/**
	 * Look at a value whose type says nothing.
	 * @param value the value that the result has completed with
	 * @return the failure to tell if its work is not done, or {@code null}
	 */
	@Nullable Throwable unfinished(@Nullable Object value) {
		return this.operation.unfinished(value, this.invocation.getMethod());
	}

	/**
	 * What the caller is told when the work is done and the lock is released.
	 * @param failure the failure of the work, or {@code null}
	 * @param release the failure of the release, or {@code null}
	 * @param observation who is told of a loss
	 * @return the failure to tell, or {@code null}
	 */
	@Nullable Throwable outcome(@Nullable Throwable failure, @Nullable Throwable release, CallObservation observation) {
		Throwable loss = unwrapped(release);
		if (loss instanceof LockLostException) {
			observation.lost();
		}
		if (loss == null || loss == failure || (loss instanceof LockLostException && isLossIgnored())) {
			return failure;
		}
		if (failure == null) {
			return loss;
		}
		failure.addSuppressed(loss);
		return failure;
	}

	/**
	 * Futures wrap the failures of those they depend on.
	 * @param failure a failure, or {@code null}
	 * @return what it is about
	 */
	@Contract("!null -> !null")
	static @Nullable Throwable unwrapped(@Nullable Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	@Override
	public String toString() {
		return "@DistributedLocked method " + this.invocation.getMethod();
	}

}
