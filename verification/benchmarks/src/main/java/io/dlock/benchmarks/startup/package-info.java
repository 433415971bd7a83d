/**
 * An empty application that measures how long it takes to start.
 */
@NullMarked
package io.dlock.benchmarks.startup;

import org.jspecify.annotations.NullMarked;
