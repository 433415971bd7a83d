/**
 * dlock, its peers and the raw stores side by side: the command, its options, the
 * servers.
 */
@NullMarked
package io.dlock.benchmarks;

import org.jspecify.annotations.NullMarked;
