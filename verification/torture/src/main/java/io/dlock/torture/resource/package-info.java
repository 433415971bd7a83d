/**
 * The resource that the locks protect: it checks fencing tokens, and never talks to the
 * lock store.
 */
@NullMarked
package io.dlock.torture.resource;

import org.jspecify.annotations.NullMarked;
