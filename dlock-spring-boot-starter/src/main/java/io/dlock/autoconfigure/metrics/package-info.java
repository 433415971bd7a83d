/**
 * Meters of locks. Start reading at {@link DlockMetricsAutoConfiguration}. Knows its
 * parent package, the API, the registry and the quorum.
 */
@NullMarked
package io.dlock.autoconfigure.metrics;

import org.jspecify.annotations.NullMarked;
