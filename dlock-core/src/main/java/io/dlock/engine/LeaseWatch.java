package io.dlock.engine;

/**
 * Told when a lease is lost, on whatever thread finds out. Does not block.
 */
@FunctionalInterface
interface LeaseWatch {

	void lost(Lease lease, String reason);

}
