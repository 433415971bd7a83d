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

	/**
	 * A key as one thread locks it, with one of several kinds of locks.
	 * @param key the key
	 * @param kind the kind
	 * @return the lock, for one thread
	 */
	default ContenderLock open(String key, LockKind kind) {
		if (kind != LockKind.EXCLUSIVE) {
			throw new UnsupportedOperationException("There are no locks of the kind " + kind);
		}
		return open(key);
	}

	@Override
	void close();

}
