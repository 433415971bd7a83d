package io.dlock.benchmarks.contender;

/**
 * Something that locks keys, connected to a server.
 */
public interface Contender extends AutoCloseable {

	/**
	 * A key as one thread locks it.
	 * @param key the key
	 * @return the lock, for one thread
	 */
	ContenderLock open(String key);

	@Override
	void close();

}
