/**
 * Everything that can lock a key, behind one interface.
 */
@NullMarked
package io.dlock.benchmarks.contender;

import org.jspecify.annotations.NullMarked;
