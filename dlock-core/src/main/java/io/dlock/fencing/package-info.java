/**
 * Resources that refuse the write of a holder that does not know yet that its lock is
 * lost.
 */
@NullMarked
package io.dlock.fencing;

import org.jspecify.annotations.NullMarked;
