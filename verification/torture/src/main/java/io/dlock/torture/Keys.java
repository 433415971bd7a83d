package io.dlock.torture;

/**
 * The keys: some that all clients share, and one of each thread that nobody else uses.
 */
public final class Keys {

	/** The name of the key that clients lock before they begin. */
	public static final String WARM_UP = "torture-warm-up";

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

	public static String name(int key) {
		return "torture-" + key;
	}

}
