package io.dlock.aop;

import org.aopalliance.intercept.MethodInvocation;

/**
 * How to call a method whose work goes on after it has returned: the lock is held until
 * the result completes.
 */
interface CompletionBound {

	/**
	 * Call the method.
	 * @param operation what the annotation says
	 * @param invocation the call
	 * @param surroundings what it has around it
	 * @return the result, which has a lock only when its work is done under one
	 */
	Object invoke(LockedOperation operation, MethodInvocation invocation, Surroundings surroundings);

	/**
	 * Whether the result may be one that never had a value, when the lock is busy.
	 * @return {@code false} if its type wants a value
	 */
	boolean canBeEmpty();

	/**
	 * Whether transactions may travel in a Reactor context.
	 * @return whether they may
	 */
	default boolean isReactive() {
		return false;
	}

}
