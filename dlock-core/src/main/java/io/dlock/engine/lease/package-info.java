/**
 * A lease from its grant to its end: holds, renewal, release in the store, revocation,
 * and the events that tell of them. Start with {@code Lease} and {@code Hold}, then
 * {@code LeaseRenewer} and {@code StoreReleaser}.
 * <p>
 * Knows {@code io.dlock}, {@code engine.concurrent} and the SPI in
 * {@code io.dlock.store}, but neither queues nor requests that wait. Public for
 * {@code io.dlock.engine} only.
 */
@NullMarked
package io.dlock.engine.lease;

import org.jspecify.annotations.NullMarked;
