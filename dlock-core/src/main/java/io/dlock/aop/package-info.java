/**
 * From the annotation to the lock: how a {@link io.dlock.DistributedLocked} method is
 * found, checked and run.
 */
@NullMarked
package io.dlock.aop;

import org.jspecify.annotations.NullMarked;
