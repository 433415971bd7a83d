package io.dlock.store.memory;

/**
 * Who waits, as tests of other packages want to know it.
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
