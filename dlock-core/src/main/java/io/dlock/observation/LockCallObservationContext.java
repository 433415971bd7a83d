package io.dlock.observation;

import java.util.List;
import java.util.Locale;

import io.micrometer.observation.Observation;

/**
 * The context of a call of a locked method: for {@linkplain LockCallObservationConvention
 * conventions}, handlers, predicates and filters of observations.
 *
 * @since 0.1
 */
public class LockCallObservationContext extends Observation.Context {

	private final String lockName;

	private final String key;

	private final String backend;

	private volatile List<Long> tokens = List.of();

	private volatile Outcome outcome = Outcome.UNKNOWN;

	/**
	 * Create the context of a call.
	 * @param lockName the {@code name} of the annotation, or else {@code Class.method}
	 * @param key the key to lock, or its replacement; several with a comma between them
	 * @param backend the kind of lock store, one of few
	 */
	public LockCallObservationContext(String lockName, String key, String backend) {
		this.lockName = lockName;
		this.key = key;
		this.backend = backend;
	}

	/**
	 * The {@code name} of the annotation, or else {@code Class.method}.
	 * @return one of few
	 */
	public String getLockName() {
		return this.lockName;
	}

	/**
	 * The key to lock, which is one of many and may be personal, or its replacement by
	 * {@link LockObservationSettings#keys()}: in a Spring Boot application a hash, unless
	 * {@code dlock.endpoint.show-keys} is {@code always}.
	 * @return the key or its hash; several with a comma between them
	 */
	public String getKey() {
		return this.key;
	}

	/**
	 * The kind of lock store.
	 * @return one of few
	 */
	public String getBackend() {
		return this.backend;
	}

	/**
	 * The fencing tokens.
	 * @return the token of each key, in the order of the keys, empty as long as the lock
	 * is not held
	 */
	public List<Long> getTokens() {
		return this.tokens;
	}

	/**
	 * Set the fencing tokens.
	 * @param tokens the token of each key, in the order of the keys
	 */
	public void setTokens(List<Long> tokens) {
		this.tokens = List.copyOf(tokens);
	}

	/**
	 * The outcome so far.
	 * @return the outcome
	 */
	public Outcome getOutcome() {
		return this.outcome;
	}

	/**
	 * Set the outcome.
	 * @param outcome the outcome
	 */
	public void setOutcome(Outcome outcome) {
		this.outcome = outcome;
	}

	/**
	 * The outcome of a call.
	 */
	public enum Outcome {

		/** It has not ended yet. */
		UNKNOWN,

		/** The method returned, and the lock was held all the time. */
		SUCCESS,

		/** The method threw, or the request for the lock was interrupted or refused. */
		ERROR,

		/**
		 * Another caller held the lock for the whole wait time, whatever was done
		 * instead.
		 */
		BUSY,

		/** The store failed, so that the method did not run. */
		FAILED,

		/** The store failed, and the method ran without its lock. */
		UNLOCKED,

		/** The lock was lost while the method ran. */
		LOST,

		/** The caller gave up: a future or a subscription was cancelled. */
		CANCELLED;

		/**
		 * The outcome as the value of a tag.
		 * @return its name in lower case
		 */
		public String tag() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

}
