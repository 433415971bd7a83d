/**
 * Micrometer meters of what happens to locks.
 */
@NullMarked
package io.dlock.metrics;

import org.jspecify.annotations.NullMarked;
