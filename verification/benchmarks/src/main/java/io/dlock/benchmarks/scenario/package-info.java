/**
 * The scenarios, one class for each question.
 */
@NullMarked
package io.dlock.benchmarks.scenario;

import org.jspecify.annotations.NullMarked;
