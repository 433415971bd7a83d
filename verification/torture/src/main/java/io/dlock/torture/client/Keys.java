package io.dlock.torture.client;

/**
 * The keys: some that all clients share, and one of each thread that nobody else uses.
 */
final class Keys {

	/** The number of the first private key. */
	static final int FIRST_PRIVATE = 100_000;

	private static final int PER_CLIENT = 1000;

	private Keys() {
	}

	static int privateKey(int client, int thread) {
		return FIRST_PRIVATE + client * PER_CLIENT + thread;
	}

	static boolean isPrivate(int key) {
		return key >= FIRST_PRIVATE;
	}

	static String name(int key) {
		return "torture-" + key;
	}

}
