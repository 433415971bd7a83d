package io.dlock.torture;

/**
 * The keys: some that all clients share, and one of each thread that no other thread
 * uses.
 */
public final class Keys {

	/**
	 * How many keys each client locks before it begins: enough for all nodes of a cluster
	 * to get some.
	 */
	static final int WARM_UP = 16;

	/**
	 * The number of keys that no call waits for: a try of one is refused only by its
	 * holder.
	 */
	public static final int POLLED = 2;

	/** The number of the first key of those that no call waits for. */
	static final int FIRST_POLLED = 50_000;

	/**
	 * The number of keys that several calls may hold at the same time: the first half has
	 * shared and exclusive locks, the second half permits.
	 */
	public static final int PLACES = 4;

	/** The key whose lock is given in the order of the calls. */
	public static final int FAIR = 20_000;

	/** The number of the first key that several calls may hold at the same time. */
	static final int FIRST_PLACE = 30_000;

	/** The number of accounts, of which a transfer locks some together. */
	public static final int ACCOUNTS = 6;

	/** The number of the first account. */
	static final int FIRST_ACCOUNT = 40_000;

	/** The number of keys that all clients share besides those of the usual calls. */
	static final int SHARED = POLLED + PLACES + ACCOUNTS + 1;

	/** The number of the first private key. */
	static final int FIRST_PRIVATE = 100_000;

	/** The number of the first key of the client that keeps its locks. */
	static final int FIRST_KEPT = 10_000_000;

	private static final int PER_CLIENT = 1000;

	private Keys() {
	}

	public static int privateKey(int client, int thread) {
		return FIRST_PRIVATE + client * PER_CLIENT + thread;
	}

	/**
	 * A key that is tried again and again and never waited for.
	 * @param choice any number
	 * @return the number of the key
	 */
	public static int polledKey(int choice) {
		return FIRST_POLLED + choice % POLLED;
	}

	public static boolean isPolled(int key) {
		return key >= FIRST_POLLED && key < FIRST_PRIVATE;
	}

	/**
	 * A key that is locked together with others.
	 * @param number the number of the account
	 * @return the number of the key
	 */
	public static int account(int number) {
		return FIRST_ACCOUNT + number;
	}

	public static boolean isAccount(int key) {
		return key >= FIRST_ACCOUNT && key < FIRST_POLLED;
	}

	/**
	 * A key that several calls may hold at the same time.
	 * @param choice any number
	 * @return the number of the key
	 */
	public static int placeKey(int choice) {
		return FIRST_PLACE + choice % PLACES;
	}

	public static boolean isPlace(int key) {
		return key >= FIRST_PLACE && key < FIRST_ACCOUNT;
	}

	/**
	 * Whether a key has permits, and no exclusive locks.
	 */
	public static boolean isLimit(int key) {
		return isPlace(key) && key >= FIRST_PLACE + PLACES / 2;
	}

	public static boolean isShared(int key) {
		return key < FIRST_PLACE;
	}

	/**
	 * A key whose lock is kept as long as the client runs.
	 * @param number the number of the lock
	 * @return the number of the key
	 */
	public static int keptKey(int number) {
		return FIRST_KEPT + number;
	}

	public static boolean isKept(int key) {
		return key >= FIRST_KEPT;
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
