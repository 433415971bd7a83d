package io.dlock.engine;

import io.dlock.LockHandle;

/**
 * A handle whose loss listeners end with its hold.
 */
interface HoldHandle extends LockHandle {

	Hold hold();

}
