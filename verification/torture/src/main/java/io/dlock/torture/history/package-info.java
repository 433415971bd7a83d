/**
 * The observations of the clients, written so that they survive the death of the client.
 */
@NullMarked
package io.dlock.torture.history;

import org.jspecify.annotations.NullMarked;
