package io.dlock.aop.key;

import org.jspecify.annotations.Nullable;

/**
 * A value or a type that has no place in a key. The {@link LockKey} adds which key it is.
 */
public final class RefusedKeyException extends IllegalArgumentException {

	private final String problem;

	private final String action;

	/**
	 * Create the refusal.
	 * @param problem a predicate, such as "is null"
	 * @param action the key to write instead
	 */
	RefusedKeyException(String problem, String action) {
		this(problem, action, null);
	}

	RefusedKeyException(String problem, String action, @Nullable Throwable cause) {
		super(problem + ". " + action, cause);
		this.problem = problem;
		this.action = action;
	}

	public String problem() {
		return this.problem;
	}

	public String action() {
		return this.action;
	}

	/**
	 * The same about the whole that has it as a part.
	 * @param part the part
	 * @return the refusal
	 */
	RefusedKeyException asPart(String part) {
		return new RefusedKeyException("has the part " + part + ", which " + this.problem, this.action);
	}

}
