package io.dlock.benchmarks.load;

/**
 * What a lock protects: notices when two are inside at once.
 */
public interface Exclusion {

	/**
	 * Somebody holds the lock from now on.
	 * @param id who, not zero
	 */
	void enter(long id);

	/**
	 * They are about to release it.
	 * @param id who
	 */
	void exit(long id);

	/**
	 * How often two were inside at once.
	 * @return the number of violations so far
	 */
	long violations();

	/**
	 * How often somebody was inside. Counted without any synchronisation: a number lower
	 * than that of the cycles is an update lost to somebody else who was inside.
	 * @return the number of cycles
	 */
	long cycles();

}
