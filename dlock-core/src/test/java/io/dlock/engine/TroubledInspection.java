package io.dlock.engine;

import java.util.Optional;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;

/**
 * Inspects a {@link TroubledStore}, unless it is down.
 */
final class TroubledInspection implements StoreInspection {

	private final TroubledStore store;

	TroubledInspection(TroubledStore store) {
		this.store = store;
	}

	@Override
	public StoredLocks list(int limit) {
		this.store.failIfDown();
		this.store.beforeList.run();
		return this.store.memory.list(limit);
	}

	@Override
	public Optional<StoredLock> findStored(String storageKey) {
		this.store.failIfDown();
		return this.store.memory.findStored(storageKey);
	}

	@Override
	public boolean forceRelease(String storageKey, long token) {
		this.store.beforeForcedRelease.run();
		this.store.failIfDown();
		if (this.store.unreachable.test(storageKey)) {
			throw new StoreException(Effect.UNKNOWN, false, "no answer in time", null);
		}
		return this.store.memory.forceRelease(storageKey, token);
	}

	@Override
	public StoreFacts diagnose() {
		this.store.failIfDown();
		return this.store.memory.diagnose();
	}

}
