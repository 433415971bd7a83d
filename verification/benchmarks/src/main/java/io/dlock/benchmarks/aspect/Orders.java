package io.dlock.benchmarks.aspect;

import io.dlock.DistributedLocked;

/**
 * The locked bean.
 */
public class Orders {

	public long unlocked(long id) {
		return id + 1;
	}

	@DistributedLocked(name = "orders")
	public long lockedByFixedKey(long id) {
		return id + 1;
	}

	@DistributedLocked(name = "orders", key = "#id")
	public long lockedByArgument(long id) {
		return id + 1;
	}

}
