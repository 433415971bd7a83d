package io.dlock.benchmarks.load;

/**
 * The critical section that a lock protects: notices when two holders are inside at once.
 */
public interface Exclusion {

	/**
	 * A holder has the lock from now on.
	 * @param id the holder, not zero
	 */
	void enter(long id);

	/**
	 * The holder is about to release it.
	 * @param id the holder
	 */
	void exit(long id);

	/**
	 * How often two were inside at once.
	 * @return the number of violations so far
	 */
	long violations();

	/**
	 * How often a holder was inside. Counted without any synchronisation: a number lower
	 * than that of the cycles is an update lost to another holder that was inside.
	 * @return the number of cycles
	 */
	long cycles();

}
