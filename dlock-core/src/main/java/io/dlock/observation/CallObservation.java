package io.dlock.observation;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.LockSet;

/**
 * The observation of one call of a locked method. By default there is none. Internal to
 * the library.
 */
public interface CallObservation {

	/** No observation. */
	CallObservation NONE = new CallObservation() {
	};

	/** The key of a subscriber's observation in the Reactor context. */
	String CONTEXT_KEY = "micrometer.observation";

	/**
	 * The observation itself, for a Reactor context.
	 * @return the observation, or {@code null} if there is none
	 */
	default @Nullable Object value() {
		return null;
	}

	/**
	 * The calling thread begins to work on the call.
	 * @return to be closed by the same thread
	 */
	default Scope open() {
		return Scope.NONE;
	}

	/**
	 * The locks are held.
	 * @param locks the locks
	 * @param tokens their fencing tokens, in the order of the keys
	 */
	default void acquired(LockSet locks, List<Long> tokens) {
	}

	/**
	 * There is no lock.
	 * @param reason why
	 * @param failOpen whether the method runs all the same if the store failed
	 */
	default void refused(Throwable reason, boolean failOpen) {
	}

	/**
	 * The lock was lost, as the loss itself or the release tells. Only the first counts.
	 */
	default void lost() {
	}

	/**
	 * The call has ended, and its lock is released. Only the first end counts.
	 * @param failure the failure for the caller, or {@code null} if there is a result
	 */
	default void end(@Nullable Throwable failure) {
	}

	/**
	 * The caller has given up.
	 */
	default void cancelled() {
	}

	/**
	 * The time in which a thread works on the call.
	 */
	@FunctionalInterface
	interface Scope {

		/** No observation. */
		Scope NONE = () -> {
		};

		/**
		 * The thread goes on to something else.
		 */
		void close();

	}

}
