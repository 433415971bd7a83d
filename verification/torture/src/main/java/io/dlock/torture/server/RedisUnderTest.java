package io.dlock.torture.server;

/**
 * A store of one Redis, or of several.
 */
public interface RedisUnderTest extends StoreUnderTest {

	/**
	 * The processes that keep data.
	 * @return the processes
	 */
	RedisProcesses processes();

}
