package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.OnBusy;
import io.dlock.OnLost;

/**
 * Runs a call of a locked method under its lock.
 */
final class DistributedLockedInterceptor implements MethodInterceptor {

	private static final Log logger = LogFactory.getLog(DistributedLockedInterceptor.class);

	private final LockedOperations operations;

	private final Surroundings surroundings;

	DistributedLockedInterceptor(LockedOperations operations, Supplier<LockRegistry> registry,
			Supplier<LockedTransactions> transactions, BooleanSupplier mdc) {
		this.operations = operations;
		this.surroundings = new Surroundings(registry, transactions, mdc);
	}

	/**
	 * Check all locked methods of a class.
	 * @param targetClass the class of a bean
	 * @return the locked methods
	 * @throws InvalidLockedMethodException if one cannot be honoured
	 */
	List<Method> check(Class<?> targetClass) {
		return LockedOperations.isCandidate(targetClass) ? this.operations.check(targetClass) : List.of();
	}

	/**
	 * Check the locked methods of the interfaces of a proxy.
	 * @param proxyClass the class of a JDK proxy
	 * @param targetClass the class of its target, if that is advised by itself, or
	 * {@code null}
	 * @return the locked methods that are no business of the advice of the target
	 * @throws InvalidLockedMethodException if one cannot be honoured
	 */
	List<Method> checkProxy(Class<?> proxyClass, @Nullable Class<?> targetClass) {
		return this.operations.checkProxy(proxyClass, targetClass);
	}

	/**
	 * Whether there is a method that may be part of a reactive transaction.
	 * @return whether there is one, among those checked
	 */
	boolean hasReactive() {
		return this.operations.hasReactive();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		return invoke(WovenMethods.lockedByProxy(invocation), ProxyAdvice.targetClass(invocation));
	}

	@Nullable Object invoke(MethodInvocation invocation, Class<?> targetClass) throws Throwable {
		LockedOperation operation = this.operations.get(invocation.getMethod(), targetClass);
		CompletionBound completion = operation.completion();
		if (completion != null) {
			return completion.invoke(operation, invocation, this.surroundings);
		}
		String key = operation.key().evaluate(invocation.getArguments());
		this.surroundings.transactions().get().checkEntry(invocation, key);
		CallObservation observation = operation.observe(key, null);
		return (observation == CallObservation.NONE) ? locked(operation, invocation, key, observation)
				: observed(operation, invocation, key, observation);
	}

	private @Nullable Object observed(LockedOperation operation, MethodInvocation invocation, String key,
			CallObservation observation) throws Throwable {
		CallObservation.Scope scope = observation.open();
		Object result;
		try {
			result = locked(operation, invocation, key, observation);
		}
		catch (Throwable ex) {
			scope.close();
			observation.end(ex);
			throw ex;
		}
		scope.close();
		observation.end(null);
		return result;
	}

	private @Nullable Object locked(LockedOperation operation, MethodInvocation invocation, String key,
			CallObservation observation) throws Throwable {
		LockHandle handle;
		try {
			LockRequest request = operation.request(key);
			handle = Surroundings.answered(this.surroundings.registry().get().acquire(request), request);
		}
		catch (LockBusyException ex) {
			observation.refused(ex, false);
			return busy(operation, invocation, ex);
		}
		catch (LockStoreException ex) {
			observation.refused(ex, operation.outage().isFailOpen(ex));
			return operation.outage().instead(invocation, ex);
		}
		return proceed(operation, invocation, enter(handle, operation, invocation, observation), observation);
	}

	private LockHandle enter(LockHandle handle, LockedOperation operation, MethodInvocation invocation,
			CallObservation observation) {
		try {
			return this.surroundings.transactions().get().enter(handle, operation, invocation);
		}
		catch (Throwable ex) {
			releaseAfter(ex, operation, handle, observation);
			throw ex;
		}
	}

	private static @Nullable Object busy(LockedOperation operation, MethodInvocation invocation, LockBusyException ex)
			throws Throwable {
		Method fallback = operation.fallback();
		if (fallback != null) {
			return Fallbacks.call(fallback, invocation);
		}
		if (operation.onBusy() == OnBusy.SKIP) {
			logger.debug("Skipped " + operation.reason(), ex);
			return SkippedResults.emptyValue(invocation.getMethod().getReturnType());
		}
		throw ex;
	}

	private @Nullable Object proceed(LockedOperation operation, MethodInvocation invocation, LockHandle handle,
			CallObservation observation) throws Throwable {
		Object result;
		try {
			observation.acquired(handle);
			result = this.surroundings.isLogged() ? logged(operation, invocation, handle)
					: body(operation, invocation, handle);
		}
		catch (Throwable ex) {
			releaseAfter(ex, operation, handle, observation);
			throw ex;
		}
		release(operation, handle, observation);
		IllegalStateException unfinished = operation.unfinished(result, invocation.getMethod());
		if (unfinished != null) {
			throw unfinished;
		}
		return result;
	}

	private static @Nullable Object logged(LockedOperation operation, MethodInvocation invocation, LockHandle handle)
			throws Throwable {
		LoggingScope scope = new LoggingScope(handle, operation.reason());
		try {
			return body(operation, invocation, handle);
		}
		finally {
			scope.end();
		}
	}

	private static @Nullable Object body(LockedOperation operation, MethodInvocation invocation, LockHandle handle)
			throws Throwable {
		return (operation.onLost() == OnLost.INTERRUPT) ? new InterruptibleBody(handle).run(invocation)
				: invocation.proceed();
	}

	private static void release(LockedOperation operation, LockHandle handle, CallObservation observation) {
		try {
			handle.release();
		}
		catch (LockLostException ex) {
			observation.lost();
			if (operation.onLost() != OnLost.IGNORE) {
				throw ex;
			}
		}
	}

	private static void releaseAfter(Throwable failure, LockedOperation operation, LockHandle handle,
			CallObservation observation) {
		try {
			release(operation, handle, observation);
		}
		catch (RuntimeException ex) {
			if (ex != failure) {
				failure.addSuppressed(ex);
			}
		}
	}

}
