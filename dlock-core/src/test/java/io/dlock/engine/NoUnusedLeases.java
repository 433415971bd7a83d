package io.dlock.engine;

/**
 * Leaves leases alone that are not passed on.
 */
final class NoUnusedLeases implements UnusedLeases {

	@Override
	public void end(Lease lease) {
	}

	@Override
	public void giveBack(Lease lease, boolean inBackground, Runnable then) {
		then.run();
	}

}
