/**
 * Small programs behind the explanations in RESULTS.md: where the time of a cycle goes.
 */
@NullMarked
package io.dlock.benchmarks.profile;

import org.jspecify.annotations.NullMarked;
