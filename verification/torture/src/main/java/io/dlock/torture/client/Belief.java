package io.dlock.torture.client;

/**
 * What the holder of a lock has to believe if its contender does not say: a lock that is
 * renewed is held until it is released, and one that is not renewed for as long as was
 * asked for, from the moment at which the call returned.
 *
 * @param since when the call returned
 * @param call the call
 */
record Belief(long since, LockCall call) {

	static Belief now(LockCall call) {
		return new Belief(System.nanoTime(), call);
	}

	long age() {
		return System.nanoTime() - this.since;
	}

	boolean isHeld() {
		return this.call.renew() || age() < this.call.lease().toNanos();
	}

}
