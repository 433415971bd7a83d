package io.dlock.engine;

import java.time.Duration;

import io.dlock.LockRequest;
import io.dlock.store.LockStore.AcquireCommand;

/**
 * Several locks, on a store that acquires them together or one by one.
 */
abstract class AbstractLockSetTests extends AbstractLeaseLockRegistryTests {

	final LockRequest waiting = request("set", LEASE, Duration.ofSeconds(30));

	final LockRequest immediate = noWait("set");

	AbstractLockSetTests(boolean batches) {
		this(batches, COMMAND_TIMEOUT);
	}

	AbstractLockSetTests(boolean batches, Duration commandTimeout) {
		super(commandTimeout);
		this.store.batches = batches;
	}

	final boolean isAsked(String key) {
		AcquireCommand asked = this.store.asked;
		return asked != null && asked.key().equals(key);
	}

}
