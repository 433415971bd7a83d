/**
 * The faults, and the nemesis that chooses them.
 */
@NullMarked
package io.dlock.torture.fault;

import org.jspecify.annotations.NullMarked;
