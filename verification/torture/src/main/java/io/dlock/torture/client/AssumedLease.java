package io.dlock.torture.client;

/**
 * The lease that a holder must assume if its contender does not tell: a lock that is
 * renewed is held until it is released, and another one for as long as was requested.
 *
 * @param since the time from which the lease counts
 * @param call the call
 */
record AssumedLease(long since, LockCall call) {

	static AssumedLease now(LockCall call) {
		return new AssumedLease(System.nanoTime(), call);
	}

	/**
	 * The lease of a call that waited and does not tell since when it holds the lock:
	 * from the begin of the call, but at the earliest a quarter of the lease before its
	 * return.
	 */
	static AssumedLease since(long begin, LockCall call) {
		return new AssumedLease(Math.max(begin, System.nanoTime() - call.lease().toNanos() / 4), call);
	}

	long age() {
		return System.nanoTime() - this.since;
	}

	boolean isHeld() {
		return this.call.renew() || age() < this.call.lease().toNanos();
	}

}
