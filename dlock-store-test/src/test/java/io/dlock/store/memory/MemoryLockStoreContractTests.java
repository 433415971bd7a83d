package io.dlock.store.memory;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockStore;
import io.dlock.store.WaitingQueue;
import io.dlock.store.test.LockStoreContract;

class MemoryLockStoreContractTests extends LockStoreContract {

	private final MemoryLockStore memory = new MemoryLockStore();

	@Override
	protected LockStore createStore() {
		return this.memory;
	}

	@Override
	protected @Nullable LockStore createStoreOfAnotherProcess() {
		return null;
	}

	@Override
	protected void loseEverything() {
		this.memory.clear();
	}

	@Override
	protected void setLastToken(long token) {
		this.memory.setLastToken(token);
	}

	@Override
	protected boolean replaceQueue(WaitingQueue queue) {
		return this.memory.replaceQueue(key(), queue);
	}

}
