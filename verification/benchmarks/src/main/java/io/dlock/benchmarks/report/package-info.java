/**
 * Figures, targets and how they are written down.
 */
@NullMarked
package io.dlock.benchmarks.report;

import org.jspecify.annotations.NullMarked;
