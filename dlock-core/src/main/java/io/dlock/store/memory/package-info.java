/**
 * Locks inside one process, for tests and single instances. Start reading at
 * {@link MemoryLockStore}. Knows the SPI only.
 */
@NullMarked
package io.dlock.store.memory;

import org.jspecify.annotations.NullMarked;
