/**
 * Small programs that reproduce on the unmodified peers the bugs that a campaign does not
 * show for certain, with real servers, and the same with us beside it. One class for each
 * bug; the numbers are those of the list of bugs found in peers.
 */
@NullMarked
package io.dlock.torture.known;

import org.jspecify.annotations.NullMarked;
