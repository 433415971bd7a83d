package io.dlock.torture.client;

import java.time.Duration;

/**
 * The application that a contender is part of: it has connections of its own to the same
 * store, which the contender knows but must not depend on.
 */
interface Application {

	/**
	 * Begin to use up all connections.
	 * @param time for how long
	 * @return the use of them, to be closed
	 */
	Usage exhaust(Duration time);

	/**
	 * Log in with another password from now on.
	 */
	void rotate(String password);

	/**
	 * The use of the connections.
	 */
	interface Usage extends AutoCloseable {

		/**
		 * Whether no connection is left just now.
		 * @return whether the application could not do anything
		 */
		boolean isTotal();

		@Override
		void close();

	}

}
