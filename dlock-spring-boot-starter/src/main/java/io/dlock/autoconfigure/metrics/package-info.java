/**
 * Meters of locks. Start reading at {@link DlockMetricsAutoConfiguration}. Knows its
 * parent package, the API and the registry.
 */
@NullMarked
package io.dlock.autoconfigure.metrics;

import org.jspecify.annotations.NullMarked;
