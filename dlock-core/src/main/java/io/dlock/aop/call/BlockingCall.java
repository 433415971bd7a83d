package io.dlock.aop.call;

import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockSet;
import io.dlock.LockStoreException;
import io.dlock.observation.CallObservation;

/**
 * Runs a method whose work is done when it returns: the calling thread waits for the
 * lock.
 */
final class BlockingCall {

	private BlockingCall() {
	}

	/**
	 * Call the method.
	 * @return the result of the method
	 * @throws Throwable the failure of the method, or of its lock
	 */
	static @Nullable Object invoke(LockedCall call) throws Throwable {
		call.transactions().checkEntry(call);
		call.observe(null);
		CallObservation.Scope scope = call.observation().open();
		Object result;
		try {
			result = acquireAndRun(call);
		}
		catch (Throwable ex) {
			scope.close();
			call.observation().end(ex);
			throw ex;
		}
		scope.close();
		call.observation().end(null);
		return result;
	}

	private static @Nullable Object acquireAndRun(LockedCall call) throws Throwable {
		LockSet locks;
		try {
			locks = call.acquire();
		}
		catch (LockBusyException | LockStoreException ex) {
			return call.runWithoutLock(ex);
		}
		Object result = null;
		Throwable failure = null;
		try {
			locks = call.transactions().enter(locks, call);
			result = call.run(locks);
		}
		catch (Throwable ex) {
			failure = ex;
		}
		Throwable outcome = call.outcome(result, failure, release(locks));
		if (outcome != null) {
			throw outcome;
		}
		return result;
	}

	private static @Nullable Throwable release(LockSet locks) {
		try {
			locks.release();
			return null;
		}
		catch (Throwable ex) {
			return ex;
		}
	}

}
