/**
 * Reads what happened and says which invariants were broken.
 * <p>
 * Certain from the histories: I1 to I5, I12. Certain within a slack, and only where the
 * process could run: I6, I9. Judged where no fault of the store touches the call, by
 * reckoning with everything that may occupy a key: I7, I8, I10, I14, I20; an orphan that
 * appears under constant faults goes unnoticed, and the excused share is published and
 * limited. I11 is judged from the output of the clients at their end and from
 * {@code checks.txt} of the bed. I13 is a figure. Not seen at all: the internals of the
 * library, such as whether a request was repeated with the same owner, and the exact time
 * at which the store gave a lock away.
 */
@NullMarked
package io.dlock.torture.judge;

import org.jspecify.annotations.NullMarked;
