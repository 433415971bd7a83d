/**
 * Small programs behind the explanations in RESULTS.md and some figures of the pages:
 * where the time of a cycle goes, and what settings cost.
 */
@NullMarked
package io.dlock.benchmarks.profile;

import org.jspecify.annotations.NullMarked;
