package io.dlock.benchmarks.contender;

/**
 * The kinds of locks. A holder takes some of the places of its key.
 */
public enum LockKind {

	/** One key, one holder. */
	EXCLUSIVE(1, 1),

	/** Two keys that are locked together. */
	TWO_KEYS(1, 1),

	/** A lock that other readers share. */
	READ(1, 1000),

	/** The exclusive lock on a key that has readers. */
	WRITE(1000, 1000),

	/** A permit of a limit of four. */
	PERMIT(1, 4);

	private final int taken;

	private final int places;

	LockKind(int taken, int places) {
		this.taken = taken;
		this.places = places;
	}

	/**
	 * The places that one holder takes.
	 * @return a number up to {@link #places()}
	 */
	public int taken() {
		return this.taken;
	}

	/**
	 * The places of a key.
	 * @return the number of places
	 */
	public int places() {
		return this.places;
	}

	/**
	 * The name of a contender in the results.
	 * @param type the contender
	 * @return its name, with that of this kind where a table has both
	 */
	public String label(ContenderType type) {
		return (this == TWO_KEYS) ? type.label() + ", two keys" : type.label();
	}

}
