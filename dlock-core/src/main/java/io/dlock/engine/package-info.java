/**
 * The registry: one process as a client of a store, with requests, console and shutdown.
 * Start with {@code LockAcquirer} for the way of a request through its {@code queue} to
 * its {@code lease}; {@code LeaseReleaser} is the way back.
 * <p>
 * Knows {@code io.dlock}, {@code io.dlock.console}, the packages below it and the SPI in
 * {@code io.dlock.store}, but no particular store. Only
 * {@link io.dlock.engine.LeaseLockRegistry} is public.
 */
@NullMarked
package io.dlock.engine;

import org.jspecify.annotations.NullMarked;
