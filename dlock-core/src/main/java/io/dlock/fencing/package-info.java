/**
 * Guards that refuse the write of a stale holder, which does not know yet that its lock
 * is lost.
 */
@NullMarked
package io.dlock.fencing;

import org.jspecify.annotations.NullMarked;
