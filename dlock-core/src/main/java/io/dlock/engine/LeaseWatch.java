package io.dlock.engine;

/**
 * Told when a lock is lost, on whatever thread finds out. Does not block.
 */
@FunctionalInterface
interface LeaseWatch {

	void lost(Hold hold, Loss loss);

}
