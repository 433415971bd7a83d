package io.dlock.torture.client;

/**
 * The belief that the holder of a lock must have if its contender does not say: a lock
 * that is renewed is held until it is released, and one that is not renewed for as long
 * as was asked for.
 *
 * @param since from when on the lease counts
 * @param call the call
 */
record Belief(long since, LockCall call) {

	static Belief now(LockCall call) {
		return new Belief(System.nanoTime(), call);
	}

	/**
	 * Of a call that waited and does not say since when it holds the lock: from its
	 * begin, but a quarter of the lease before it returned at the earliest.
	 */
	static Belief since(long begin, LockCall call) {
		return new Belief(Math.max(begin, System.nanoTime() - call.lease().toNanos() / 4), call);
	}

	long age() {
		return System.nanoTime() - this.since;
	}

	boolean isHeld() {
		return this.call.renew() || age() < this.call.lease().toNanos();
	}

}
