package io.dlock.store;

/**
 * The subscription of a process to the locks that are reserved for it.
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
