package io.dlock.engine;

/**
 * Ends leases that are not passed on.
 */
interface UnusedLeases {

	/**
	 * Stop renewing and watching a lease.
	 * @param lease the lease
	 */
	void end(Lease lease);

	/**
	 * Release a lease in the store that no request takes over.
	 * @param lease the lease, which has ended
	 * @param inBackground whether the calling thread must not wait for the store
	 * @param then the action after the release
	 */
	void giveBack(Lease lease, boolean inBackground, Runnable then);

}
