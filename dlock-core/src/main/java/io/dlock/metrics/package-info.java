/**
 * Micrometer meters of locks: timers and counters from events, and gauges from counts.
 * Start reading at {@link io.dlock.metrics.LockMeters}, whose Javadoc lists the meters.
 * Knows {@code io.dlock} only.
 */
@NullMarked
package io.dlock.metrics;

import org.jspecify.annotations.NullMarked;
