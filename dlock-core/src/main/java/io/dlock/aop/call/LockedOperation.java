package io.dlock.aop.call;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.PermitRegistry;
import io.dlock.aop.key.LockKey;
import io.dlock.observation.CallObservation;
import io.dlock.observation.CallObservationFactory;

/**
 * The settings of a {@link io.dlock.DistributedLocked} method, read and checked once.
 *
 * @param key the key, or the keys
 * @param template the request for the lock, but for its key
 * @param limit how many callers run the method at once, or {@code null} if it is locked
 * @param onBusy the rule for a busy lock if there is no fallback
 * @param fallback the method to call when there is no lock, or {@code null}
 * @param onLost the rule for a lost lock
 * @param reason the reason for operators
 * @param name the name in events and metrics
 * @param storeFailureHandler the handler of a failure of the store
 * @param observations starts the observations of calls
 * @param returnType the return type
 * @param registry the registry that the annotation names, or {@code null} for the default
 */
public record LockedOperation(LockKey key, LockRequest template, @Nullable Integer limit, OnBusy onBusy,
		@Nullable Method fallback, OnLost onLost, String reason, String name, StoreFailureHandler storeFailureHandler,
		CallObservationFactory observations, LockedReturnType returnType, @Nullable LockRegistry registry) {

	/**
	 * The request of a call for its first key, and the template for all.
	 * @param keys the keys of the call
	 * @return the request
	 * @throws IllegalArgumentException if one of them cannot be a key
	 */
	LockRequest request(List<String> keys) {
		LockRequest first = this.template.withKey(keys.get(0));
		for (int i = 1; i < keys.size(); i++) {
			this.template.withKey(keys.get(i));
		}
		return first;
	}

	/**
	 * The keys of the handles of a call.
	 * @param keys the keys of the call
	 * @return the keys; those of permits have a prefix
	 */
	List<String> held(List<String> keys) {
		return (this.limit != null) ? List.of(PermitRegistry.PERMIT_PREFIX + keys.get(0)) : keys;
	}

	/**
	 * Find the method to call instead when there is no lock.
	 * @param reason the reason why there is none
	 * @return the fallback, or {@code null}
	 */
	@Nullable Method fallback(Throwable reason) {
		return (reason instanceof LockBusyException
				|| (reason instanceof LockStoreException && this.storeFailureHandler.isFallback())) ? this.fallback
						: null;
	}

	/**
	 * Inspect a result whose declared type does not tell whether the work is done.
	 * @param result the result of the method, or the value that it has completed with
	 * @param method the method
	 * @return the failure to report if its work is not done, or {@code null}
	 */
	@Nullable IllegalStateException unfinished(@Nullable Object result, Method method) {
		if (!this.returnType.open() || result == null) {
			return null;
		}
		Object pending = PendingResults.find(result);
		if (pending == null) {
			return null;
		}
		String inside = (pending != result) ? " with a %s in it".formatted(pending.getClass().getName()) : "";
		return new IllegalStateException(
				("%s method %s returned a %s%s: its lock is released, but its work may not be done. "
						+ "Declare the type that is returned, for which the lock can be held until then, or which is refused at start-up")
					.formatted(annotation(), method, result.getClass().getName(), inside));
	}

	/**
	 * The annotation of the method, for messages.
	 */
	String annotation() {
		return (this.limit != null) ? "@DistributedLimit" : "@DistributedLocked";
	}

	/**
	 * Start the observation of a call.
	 * @param keys the keys of the call
	 * @param parent the observation that it is part of, or {@code null} for that of the
	 * thread
	 * @return the observation
	 */
	CallObservation observe(List<String> keys, @Nullable Object parent) {
		return this.observations.start(this.name, keys, parent);
	}

}
