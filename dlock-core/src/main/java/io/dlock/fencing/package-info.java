/**
 * Guards that refuse the write of a stale holder, which does not know yet that its lock
 * is lost. Start reading at {@code FencingGuard} in {@code jdbc}, then
 * {@code FencedValues} in {@code redis}. Knows {@code io.dlock} and how keys are written;
 * the packages below do not know each other.
 */
@NullMarked
package io.dlock.fencing;

import org.jspecify.annotations.NullMarked;
