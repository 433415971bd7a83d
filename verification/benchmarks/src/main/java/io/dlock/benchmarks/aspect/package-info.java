/**
 * The aspect under JMH.
 */
@NullMarked
package io.dlock.benchmarks.aspect;

import org.jspecify.annotations.NullMarked;
