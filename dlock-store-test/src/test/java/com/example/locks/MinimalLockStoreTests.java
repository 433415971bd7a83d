package com.example.locks;

import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockStore;
import io.dlock.store.test.LockStoreContract;

class MinimalLockStoreTests extends LockStoreContract {

	private final MinimalLockStore store = new MinimalLockStore();

	@Override
	protected LockStore createStore() {
		return this.store;
	}

	@Override
	protected @Nullable LockStore createStoreOfAnotherProcess() {
		return null;
	}

	@Override
	protected void loseEverything() {
		this.store.clear();
	}

	@Override
	protected void setLastToken(long token) {
		this.store.setLastToken(key(), token);
	}

	@Override
	protected Set<Feature> features() {
		return Set.of();
	}

}
