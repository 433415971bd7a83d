package io.dlock.test;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import io.dlock.store.LockStore;
import io.dlock.store.StoreException;

/**
 * Limits of tests that do not measure time. A machine with eight busy loops beside the
 * tests does not reach them. JUnit finds this class by itself, and so Awaitility waits
 * that long in every test and looks often.
 */
public final class Patience implements BeforeAllCallback {

	/**
	 * The limit for events that happen at some time, such as the end of a lease.
	 */
	public static final Duration EVENTUALLY = Duration.ofSeconds(30);

	/**
	 * The limit for a command to a store, and for the first connection as well, which has
	 * half of it.
	 */
	public static final Duration COMMAND = Duration.ofSeconds(20);

	/** The pause between two looks at what a test waits for. */
	private static final Duration LOOK = Duration.ofMillis(10);

	/**
	 * Open the first connection of a store, which may take longer than its timeout.
	 * @param <S> the type of the store
	 * @param store the store
	 * @return the store
	 */
	public static <S extends LockStore> S connected(S store) {
		Awaitility.await().atMost(EVENTUALLY).ignoreException(StoreException.class).untilAsserted(store::verify);
		return store;
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(EVENTUALLY);
		Awaitility.setDefaultPollInterval(LOOK);
	}

}
