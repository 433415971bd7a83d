package io.dlock.engine.lease;

import io.dlock.LockHandle;

/**
 * A handle whose loss listeners end with its hold.
 */
public interface HoldHandle extends LockHandle {

	Hold hold();

}
