/**
 * Threads that lock and unlock, and the check that they exclude each other.
 */
@NullMarked
package io.dlock.benchmarks.load;

import org.jspecify.annotations.NullMarked;
