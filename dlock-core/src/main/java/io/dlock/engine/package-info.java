/**
 * The registry: one process as a client of a store, with requests, local queues,
 * hand-off, console and shutdown. Start with {@code LockAcquirer} for the way of a
 * request to its lease, which is in {@code lease}; {@code LeaseReleaser} is the way back.
 * <p>
 * Knows {@code io.dlock}, {@code io.dlock.console}, its own {@code lease} and
 * {@code concurrent}, and the SPI in {@code io.dlock.store}, but no particular store.
 * Only {@link io.dlock.engine.LeaseLockRegistry} is public.
 */
@NullMarked
package io.dlock.engine;

import org.jspecify.annotations.NullMarked;
