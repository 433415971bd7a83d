package io.dlock.aop;

import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInvocation;

import io.dlock.LockRegistry;

/**
 * How to call a method whose work goes on after it has returned: the lock is held until
 * the result completes.
 */
interface CompletionBound {

	/**
	 * Call the method.
	 * @param operation what the annotation says
	 * @param invocation the call
	 * @param registry the registry
	 * @return the result, which has a lock only when its work is done under one
	 */
	Object invoke(LockedOperation operation, MethodInvocation invocation, Supplier<LockRegistry> registry);

	/**
	 * Whether the result may be one that never had a value, when the lock is busy.
	 * @return {@code false} if its type wants a value
	 */
	boolean canBeEmpty();

}
