/**
 * The figures of a run, for people and for programs.
 */
@NullMarked
package io.dlock.torture.report;

import org.jspecify.annotations.NullMarked;
