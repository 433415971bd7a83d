package io.dlock.aop.call;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockSet;
import io.dlock.ReactiveLockContext;
import io.dlock.observation.CallObservation;
import io.dlock.transaction.IgnoredLossKey;
import io.dlock.transaction.AsyncLockRetention;

/**
 * A call of a locked method that waits for its lock without a thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the future that is watched is kept
final class AsyncCall extends LockedCall {

	private volatile AsyncLockRetention retention = AsyncLockRetention.NONE;

	AsyncCall(LockedOperation operation, MethodInvocation invocation, InvocationSupport support) {
		super(operation, invocation, support);
	}

	/**
	 * Create another call of the same method with the same arguments.
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
	 * Ask for the locks. The caller may hold some of the keys already.
	 * @param held finds the handle of a key that the caller holds
	 * @return the locks to come
	 */
	CompletableFuture<LockSet> acquire(Function<String, @Nullable LockHandle> held) {
		List<LockHandle> outer = new ArrayList<>();
		for (String key : keys()) {
			LockHandle handle = held.apply(key);
			if (handle != null) {
				outer.add(handle);
			}
		}
		return this.retention.acquire(outer, this::acquireAsync);
	}

	/**
	 * Ask for the locks. A subscriber may hold some of the keys already.
	 * @param context the context of the subscriber
	 * @return the locks to come
	 */
	CompletableFuture<LockSet> acquire(ContextView context) {
		return acquire((key) -> ReactiveLockContext.find(context, key, registry()::owns).orElseGet(() -> held(key)));
	}

	/**
	 * Take the granted locks for the method, which is about to run.
	 * @return the locks to release when the work is done
	 */
	LockSet keep(LockSet granted) {
		return this.retention.keep(granted);
	}

	/**
	 * Release granted locks for which the caller waits no longer.
	 */
	void giveBack(LockSet granted) {
		this.retention.giveBack(granted);
	}

	/**
	 * Add the granted locks to the context of a publisher.
	 * @param context the context of its subscriber
	 * @return the context of the publisher
	 */
	Context bind(LockSet granted, Context context) {
		Context bound = context;
		for (LockHandle handle : granted.handles()) {
			bound = ReactiveLockContext.bind(handle).apply(bound);
			if (isLossIgnored()) {
				bound = bound.put(new IgnoredLossKey(handle), true);
			}
		}
		return bound;
	}

	/**
	 * Run the method on the calling thread, to which the locks are bound meanwhile.
	 * @return the result of the method
	 * @throws Throwable if the method fails
	 */
	@Nullable Object runBound(LockSet granted) throws Throwable {
		transactions().granted(granted, isLossIgnored());
		CallObservation.Scope scope = observation().open();
		List<LockContext.Binding> bindings = granted.handles().stream().map(LockContext::bind).toList();
		try {
			return runClone(granted);
		}
		finally {
			bindings.forEach(LockContext.Binding::close);
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
	 * Release the locks, and then tell the caller the outcome: on this thread if they are
	 * released at once. Otherwise on one of its own, because the continuation of the
	 * caller may block, which the threads of the library must not.
	 * @param value the result of the work
	 * @param failure the failure of the work, or {@code null}
	 * @param teller tells the failure, or {@code null} if there is none
	 */
	void end(LockSet locks, @Nullable Object value, @Nullable Throwable failure, Consumer<@Nullable Throwable> teller) {
		CompletableFuture<@Nullable Void> released = locks.releaseAsync();
		boolean now = released.isDone();
		released.whenComplete((done, loss) -> {
			Runnable telling = () -> teller.accept(told(value, failure, loss));
			if (now) {
				telling.run();
			}
			else {
				LockedMethodExecutor.executeOrRun(telling);
			}
		});
	}

	/**
	 * The outcome, or the failure to find it: the caller waits for one.
	 */
	private @Nullable Throwable told(@Nullable Object value, @Nullable Throwable failure, @Nullable Throwable loss) {
		try {
			return outcome(value, failure, loss);
		}
		catch (Throwable ex) {
			return ex;
		}
	}

}
