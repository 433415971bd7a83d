/**
 * The client processes: locks of every kind under a random load.
 */
@NullMarked
package io.dlock.torture.client;

import org.jspecify.annotations.NullMarked;
