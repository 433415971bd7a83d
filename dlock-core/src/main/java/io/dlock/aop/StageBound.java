package io.dlock.aop;

import java.util.concurrent.CompletableFuture;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * For methods that return a {@link java.util.concurrent.CompletionStage}.
 *
 * @param onCallingThread whether the calling thread waits for the lock and runs the body,
 * because {@code @Async} has given it to this call
 * @param emptyValue what a skipped call completes with
 */
record StageBound(boolean onCallingThread, @Nullable Object emptyValue) implements CompletionBound {

	@Override
	@SuppressWarnings("FutureReturnValueIgnored") // it is the caller's
	public Object invoke(LockedOperation operation, MethodInvocation invocation, Surroundings surroundings) {
		try {
			StageCall call = new StageCall(new LockedCall(operation, invocation, surroundings), this.emptyValue);
			return this.onCallingThread ? call.runHere() : call.runWhenGranted();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public boolean canBeEmpty() {
		return true;
	}

}
