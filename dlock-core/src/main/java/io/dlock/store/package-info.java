/**
 * The SPI of a lock store, and what all stores share.
 */
@NullMarked
package io.dlock.store;

import org.jspecify.annotations.NullMarked;
