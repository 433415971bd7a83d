package io.dlock.aop.call;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.LockInterruptedException;
import io.dlock.LockSet;
import io.dlock.observation.CallObservation;

/**
 * A call of a locked method that returns a stage. The caller receives a separate future,
 * which completes after the lock is released; a caller that completes it, by cancelling
 * it or by a timeout, ends the call.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the future that is watched is kept
final class StageCall {

	private static final Log logger = LogFactory.getLog(StageCall.class);

	private final AsyncCall call;

	private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();

	/** The work is done, or the caller waits for it no longer. */
	private final AtomicBoolean ended = new AtomicBoolean();

	private StageCall(AsyncCall call) {
		this.call = call;
		call.enterTransaction();
		call.observe(null);
		CallObservation observation = call.observation();
		if (observation != CallObservation.NONE) {
			// for a caller that gives up, and a body that finds no thread
			this.result.whenComplete((value, failure) -> observation.end(failure));
		}
	}

	/**
	 * Call the method.
	 * @param operation the settings of the method
	 * @param invocation the call
	 * @param support the services of all calls
	 * @return the future for the caller
	 */
	static CompletableFuture<@Nullable Object> invoke(LockedOperation operation, MethodInvocation invocation,
			InvocationSupport support) {
		StageCall call;
		try {
			call = new StageCall(new AsyncCall(operation, invocation, support));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		try {
			return (operation.returnType().kind() == ReturnKind.STAGE_OF_ASYNC) ? call.runHere()
					: call.runWhenGranted();
		}
		catch (RuntimeException ex) {
			// ends the observation as well
			call.result.completeExceptionally(ex);
			return call.result;
		}
	}

	/**
	 * Return at once; the method runs on a thread of its own when the lock is granted.
	 * @return the future for the caller
	 */
	private CompletableFuture<@Nullable Object> runWhenGranted() {
		CompletableFuture<LockSet> acquired = acquire();
		Runnable body = LockedMethodExecutor.inContext(() -> proceed(acquired));
		acquired.whenComplete((locks, failure) -> {
			try {
				LockedMethodExecutor.execute(body);
			}
			catch (Throwable ex) {
				// no thread could be started, and nothing else releases the lock
				if (locks != null) {
					end(this.call.keep(locks), null, ex);
				}
				this.result.completeExceptionally(ex);
			}
		});
		return this.result;
	}

	/**
	 * Wait for the lock and run the method on the calling thread.
	 * @return the future for the caller, whose work may go on elsewhere
	 */
	private CompletableFuture<@Nullable Object> runHere() {
		CompletableFuture<LockSet> acquired = acquire();
		try {
			acquired.get();
		}
		catch (InterruptedException ex) {
			this.result.completeExceptionally(new LockInterruptedException(String.join(", ", this.call.keys()), ex));
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException ex) {
			logger.trace("The lock was not granted", ex);
		}
		proceed(acquired);
		return this.result;
	}

	private CompletableFuture<LockSet> acquire() {
		CompletableFuture<LockSet> acquired = this.call.acquire(this.call::held);
		this.result.whenComplete((value, failure) -> acquired.cancel(false));
		return acquired;
	}

	private void proceed(CompletableFuture<LockSet> acquired) {
		LockSet granted;
		try {
			granted = acquired.join();
		}
		catch (RuntimeException ex) {
			doInstead(ex);
			return;
		}
		if (this.result.isDone()) {
			this.call.giveBack(granted);
			return;
		}
		LockSet locks = this.call.keep(granted);
		try {
			follow(locks, this.call.runBound(granted));
		}
		catch (Throwable ex) {
			end(locks, null, ex);
		}
	}

	private void doInstead(Throwable failure) {
		if (this.result.isDone()) {
			return;
		}
		try {
			Object returned = this.call.runWithoutLock(failure);
			if (returned instanceof CompletionStage<?> stage) {
				this.result.whenComplete((value, ex) -> cancel(stage));
				stage.whenComplete((value, ex) -> settle(value, LockedCall.unwrapped(ex)));
			}
			else {
				settle(valueOf(returned), null);
			}
		}
		catch (Throwable ex) {
			settle(null, ex);
		}
	}

	/**
	 * Hold the lock until the stage completes, the caller gives up, or the lock is lost.
	 */
	private void follow(LockSet locks, @Nullable Object returned) throws Throwable {
		if (!(returned instanceof CompletionStage<?> stage)) {
			end(locks, awaited(locks, returned), null);
			return;
		}
		this.result.whenComplete((value, failure) -> abandon(stage, locks));
		if (this.call.isInterrupting()) {
			locks.onLost((lost) -> LockedMethodExecutor.executeOrRun(() -> abandon(stage, locks)));
		}
		stage.whenComplete((value, failure) -> end(locks, value, failure));
	}

	private @Nullable Object awaited(LockSet locks, @Nullable Object returned) throws Throwable {
		if (this.call.isInterrupting() && returned instanceof Future<?> future) {
			locks.onLost((lost) -> future.cancel(true));
		}
		try {
			return valueOf(returned);
		}
		catch (CancellationException ex) {
			if (this.call.isInterrupting() && !locks.isValid()) {
				// the release throws the LockLostException
				return null;
			}
			throw ex;
		}
	}

	/**
	 * A result that is no stage: {@code null}, as is usual with {@code @Async}, or a
	 * future, for which this thread may wait.
	 */
	private static @Nullable Object valueOf(@Nullable Object returned) throws Throwable {
		try {
			return (returned instanceof Future<?> future) ? future.get() : returned;
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() != null) ? ex.getCause() : ex;
		}
	}

	private static void cancel(CompletionStage<?> stage) {
		try {
			stage.toCompletableFuture().cancel(true);
		}
		catch (RuntimeException ex) {
			logger.debug("A " + stage.getClass().getName() + " cannot be cancelled", ex);
		}
	}

	/**
	 * The work is told to stop before its lock is passed on.
	 */
	private void abandon(CompletionStage<?> stage, LockSet locks) {
		if (this.ended.compareAndSet(false, true)) {
			try {
				cancel(stage);
			}
			finally {
				release(locks, null, null);
			}
		}
	}

	private void end(LockSet locks, @Nullable Object value, @Nullable Throwable failure) {
		if (this.ended.compareAndSet(false, true)) {
			release(locks, value, failure);
		}
	}

	/**
	 * Release the lock, and then tell the caller.
	 */
	private void release(LockSet locks, @Nullable Object value, @Nullable Throwable failure) {
		this.call.end(locks, value, LockedCall.unwrapped(failure), (outcome) -> settle(value, outcome));
	}

	private void settle(@Nullable Object value, @Nullable Throwable failure) {
		if (!this.result.isDone()) {
			this.call.observation().end(failure);
		}
		if (failure != null) {
			this.result.completeExceptionally(failure);
		}
		else {
			this.result.complete(value);
		}
	}

}
