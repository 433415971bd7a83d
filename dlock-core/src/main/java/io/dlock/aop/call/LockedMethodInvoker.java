package io.dlock.aop.call;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.dlock.LockRegistry;
import io.dlock.transaction.TransactionIntegration;

/**
 * Calls locked methods, each in the way that its return type asks for.
 */
public final class LockedMethodInvoker {

	private final InvocationSupport support;

	/**
	 * Create an invoker.
	 * @param registry the default registry, asked for at each call
	 * @param transactions the transactions, asked for at each call
	 * @param mdc whether the log of a method shows its lock
	 */
	public LockedMethodInvoker(Supplier<LockRegistry> registry, Supplier<TransactionIntegration> transactions,
			BooleanSupplier mdc) {
		this.support = new InvocationSupport(registry, transactions, mdc);
	}

	/**
	 * Call a method.
	 * @param operation the settings of the method
	 * @param invocation the call
	 * @return the result for the caller
	 * @throws Throwable the failure of the method or of its lock
	 */
	public @Nullable Object invoke(LockedOperation operation, MethodInvocation invocation) throws Throwable {
		LockRegistry named = operation.registry();
		InvocationSupport current = (named != null) ? this.support.with(named) : this.support;
		return switch (operation.returnType().kind()) {
			case VALUE -> BlockingCall.invoke(new LockedCall(operation, invocation, current));
			case STAGE, STAGE_OF_ASYNC -> StageCall.invoke(operation, invocation, current);
			case PUBLISHER -> ReactiveCall.invoke(operation, invocation, current);
		};
	}

}
