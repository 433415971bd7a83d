package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.Optional;
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

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LockedOperation operation = this.operations.get(invocation.getMethod(), targetClass(invocation));
		CompletionBound completion = operation.completion();
		if (completion != null) {
			return completion.invoke(operation, invocation, this.surroundings);
		}
		String key = operation.key().evaluate(invocation.getArguments());
		LockedTransactions transactions = this.surroundings.transactions().get();
		transactions.checkEntry(invocation.getMethod(), key);
		LockHandle handle;
		try {
			handle = this.surroundings.registry().get().acquire(operation.request(key));
		}
		catch (LockBusyException ex) {
			return busy(operation, invocation, ex);
		}
		catch (LockStoreException ex) {
			return operation.outage().instead(invocation, ex);
		}
		return proceed(operation, invocation, enter(transactions, handle, operation, invocation));
	}

	private static LockHandle enter(LockedTransactions transactions, LockHandle handle, LockedOperation operation,
			MethodInvocation invocation) {
		try {
			return transactions.enter(handle, operation, invocation.getMethod());
		}
		catch (Throwable ex) {
			releaseAfter(ex, operation, handle);
			throw ex;
		}
	}

	private static Class<?> targetClass(MethodInvocation invocation) {
		Object target = invocation.getThis();
		return (target != null) ? AopUtils.getTargetClass(target) : invocation.getMethod().getDeclaringClass();
	}

	private static @Nullable Object busy(LockedOperation operation, MethodInvocation invocation, LockBusyException ex)
			throws Throwable {
		Method fallback = operation.fallback();
		if (fallback != null) {
			return AopUtils.invokeJoinpointUsingReflection(invocation.getThis(), fallback, invocation.getArguments());
		}
		if (operation.onBusy() == OnBusy.SKIP) {
			logger.debug("Skipped " + operation.reason(), ex);
			return (invocation.getMethod().getReturnType() == Optional.class) ? Optional.empty() : null;
		}
		throw ex;
	}

	private @Nullable Object proceed(LockedOperation operation, MethodInvocation invocation, LockHandle handle)
			throws Throwable {
		Object result;
		try {
			result = this.surroundings.isLogged() ? logged(operation, invocation, handle)
					: body(operation, invocation, handle);
		}
		catch (Throwable ex) {
			releaseAfter(ex, operation, handle);
			throw ex;
		}
		release(operation, handle);
		return synchronous(result, invocation);
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

	/**
	 * A method that is declared to return any object is found out only now.
	 */
	private static @Nullable Object synchronous(@Nullable Object result, MethodInvocation invocation) {
		if (result != null && invocation.getMethod().getReturnType() == Object.class
				&& ResultTypes.isAsynchronous(result.getClass())) {
			throw new IllegalStateException(
					"@DistributedLocked method %s returned a %s: its lock is released, but its work may not be done"
						.formatted(invocation.getMethod(), result.getClass().getName()));
		}
		return result;
	}

	private static void release(LockedOperation operation, LockHandle handle) {
		try {
			handle.release();
		}
		catch (LockLostException ex) {
			if (operation.onLost() != OnLost.IGNORE) {
				throw ex;
			}
		}
	}

	private static void releaseAfter(Throwable failure, LockedOperation operation, LockHandle handle) {
		try {
			release(operation, handle);
		}
		catch (RuntimeException ex) {
			if (ex != failure) {
				failure.addSuppressed(ex);
			}
		}
	}

}
