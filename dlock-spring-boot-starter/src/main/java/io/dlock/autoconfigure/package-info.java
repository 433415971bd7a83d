/**
 * Auto-configuration of dlock: properties, the lock registry, listeners, observations and
 * the order of the shutdown. Start reading at {@link DlockAutoConfiguration}. The
 * packages below contribute a {@link LockStoreCandidate}, meters and actuator endpoints;
 * this package knows none of them.
 */
@NullMarked
package io.dlock.autoconfigure;

import org.jspecify.annotations.NullMarked;
