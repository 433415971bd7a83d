package io.dlock.store.memory;

/**
 * Shows the queues to tests of other packages.
 */
public final class Waiting {

	private Waiting() {
	}

	public static int mailboxes(MemoryLockStore store) {
		return store.mailboxes();
	}

	public static int processes(MemoryLockStore store, String key) {
		return store.waiting(key);
	}

}
