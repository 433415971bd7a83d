/**
 * The registry: one process as a client of a store, with local queues, leases, renewal,
 * hand-off, revocation and shutdown. Start with {@code LockAcquirer} for the way of a
 * request and {@code Lease} for what it gets; {@code LeaseReleaser} is the way back.
 * <p>
 * Knows {@code io.dlock}, {@code io.dlock.console}, its clocks and threads in
 * {@code concurrent}, and the SPI in {@code io.dlock.store}, but no particular store.
 * Only {@link io.dlock.engine.LeaseLockRegistry} is public.
 */
@NullMarked
package io.dlock.engine;

import org.jspecify.annotations.NullMarked;
