/**
 * What a user of dlock imports: the {@link io.dlock.DistributedLocked annotation}, the
 * {@link io.dlock.LockRegistry registry}, the {@link io.dlock.LockHandle handle} of a
 * held lock, and the exceptions.
 */
@NullMarked
package io.dlock;

import org.jspecify.annotations.NullMarked;
