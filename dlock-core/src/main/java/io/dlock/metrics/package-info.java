/**
 * Micrometer meters of locks. Start reading at {@link io.dlock.metrics.LockMeters}, which
 * lists the meters and registers the gauges from counts; the timers and counters from
 * events are in {@code NamedMeters}, an object for each name. Knows {@code io.dlock} and
 * the counts of {@code io.dlock.console}.
 */
@NullMarked
package io.dlock.metrics;

import org.jspecify.annotations.NullMarked;
