/**
 * Reads what happened and says which invariants were broken.
 */
@NullMarked
package io.dlock.torture.judge;

import org.jspecify.annotations.NullMarked;
