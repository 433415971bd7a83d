package io.dlock.store;

/**
 * A process that listens for its turn.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface Mailbox extends AutoCloseable {

	/**
	 * Stop listening.
	 */
	@Override
	void close();

}
