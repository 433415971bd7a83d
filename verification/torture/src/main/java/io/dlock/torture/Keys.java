package io.dlock.torture;

/**
 * The keys: some that all clients share, and one of each thread that nobody else uses.
 */
public final class Keys {

	/**
	 * How many keys each client locks before it begins: enough for all nodes of a cluster
	 * to get some.
	 */
	static final int WARM_UP = 16;

	/** The number of the first private key. */
	static final int FIRST_PRIVATE = 100_000;

	private static final int PER_CLIENT = 1000;

	private Keys() {
	}

	public static int privateKey(int client, int thread) {
		return FIRST_PRIVATE + client * PER_CLIENT + thread;
	}

	public static boolean isPrivate(int key) {
		return key >= FIRST_PRIVATE;
	}

	/**
	 * A key that a client locks before it begins.
	 * @param client the number of the client
	 * @param call the number of the call
	 * @return the name of the key
	 */
	public static String warmUp(int client, int call) {
		return "torture-warm-up-" + client + "-" + call % WARM_UP;
	}

	public static String name(int key) {
		return "torture-" + key;
	}

}
