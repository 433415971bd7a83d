package io.dlock.aop.call;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.observation.CallObservation;
import io.dlock.transaction.LockRetention;

/**
 * A call of a locked method that waits for its lock without a thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the future that is watched is kept
final class AsyncCall extends LockedCall {

	private volatile LockRetention retention = LockRetention.NONE;

	AsyncCall(LockedOperation operation, MethodInvocation invocation, InvocationSupport support) {
		super(operation, invocation, support);
	}

	/**
	 * Create another call of the same method with the same arguments.
	 * @param call the call
	 */
	AsyncCall(AsyncCall call) {
		super(call);
	}

	/**
	 * Enter the transaction of the calling thread, if there is one.
	 */
	void enterTransaction() {
		this.retention = transactions().enterLater(this);
	}

	/**
	 * Enter the transaction of a subscriber or of the calling thread, if there is one.
	 * @param context the context of the subscriber
	 */
	void enterTransaction(ContextView context) {
		this.retention = transactions().enterLater(this, context);
	}

	/**
	 * The handle of the key that the calling thread holds.
	 * @return the handle, or {@code null}
	 */
	@Nullable LockHandle heldByThread() {
		return LockContext.find(key());
	}

	/**
	 * Ask for the lock.
	 * @param outer the handle of the key that the caller holds, or {@code null}
	 * @return the handle to come
	 */
	CompletableFuture<LockHandle> acquire(@Nullable LockHandle outer) {
		return this.retention.acquire(outer, (held) -> support().acquireAsync(request(), held));
	}

	/**
	 * Take the granted lock for the method, which is about to run.
	 * @param granted the lock
	 * @return the handle to release when the work is done
	 */
	LockHandle keep(LockHandle granted) {
		return this.retention.keep(granted);
	}

	/**
	 * Release a granted lock for which the caller waits no longer.
	 * @param granted the lock
	 */
	void giveBack(LockHandle granted) {
		this.retention.giveBack(granted);
	}

	/**
	 * Run the method on the calling thread, to which the lock is bound meanwhile.
	 * @param granted the lock
	 * @return the result of the method
	 * @throws Throwable if the method fails
	 */
	@Nullable Object runBound(LockHandle granted) throws Throwable {
		transactions().granted(granted, isLossIgnored());
		CallObservation.Scope scope = observation().open();
		LockContext.Binding binding = LockContext.bind(granted);
		try {
			return runClone(granted);
		}
		finally {
			binding.close();
			scope.close();
		}
	}

	@Override
	@Nullable Object runWithoutLock(Throwable failure) throws Throwable {
		CallObservation.Scope scope = observation().open();
		try {
			return super.runWithoutLock(failure);
		}
		finally {
			scope.close();
		}
	}

	/**
	 * Release the lock, and then tell the caller the outcome: on this thread if the lock
	 * is released at once. Otherwise on one of its own, because the continuation of the
	 * caller may block, which the threads of the library must not.
	 * @param handle the lock
	 * @param value the result of the work
	 * @param failure the failure of the work, or {@code null}
	 * @param teller tells the failure, or {@code null} if there is none
	 */
	void end(LockHandle handle, @Nullable Object value, @Nullable Throwable failure,
			Consumer<@Nullable Throwable> teller) {
		CompletableFuture<@Nullable Void> released = release(handle);
		boolean now = released.isDone();
		released.whenComplete((done, loss) -> {
			Runnable telling = () -> teller.accept(outcome(value, failure, loss));
			if (now) {
				telling.run();
			}
			else {
				LockedMethodExecutor.executeOrRun(telling);
			}
		});
	}

	private static CompletableFuture<@Nullable Void> release(LockHandle handle) {
		CompletableFuture<@Nullable Void> released = handle.releaseAsync();
		// a mock without an answer returns null
		return (released != null) ? released : CompletableFuture.completedFuture(null);
	}

}
