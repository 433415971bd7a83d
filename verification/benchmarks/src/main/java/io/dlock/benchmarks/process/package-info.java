/**
 * JVMs of their own, and what is measured in them.
 */
@NullMarked
package io.dlock.benchmarks.process;

import org.jspecify.annotations.NullMarked;
