/**
 * The SPI of a lock store, and how keys are written. Start reading at {@link LockStore},
 * whose Javadoc is the contract. Knows nothing else of dlock; the packages below
 * implement it and do not know each other.
 */
@NullMarked
package io.dlock.store;

import org.jspecify.annotations.NullMarked;
