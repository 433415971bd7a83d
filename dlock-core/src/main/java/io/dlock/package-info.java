/**
 * The API of dlock, which an application imports. Start with the annotation
 * {@link io.dlock.DistributedLocked} or with {@link io.dlock.LockRegistry}; a held lock
 * is a {@link io.dlock.LockHandle}.
 * <p>
 * Knows no other package of dlock.
 */
@NullMarked
package io.dlock;

import org.jspecify.annotations.NullMarked;
