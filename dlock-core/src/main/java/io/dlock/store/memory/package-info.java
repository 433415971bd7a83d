/**
 * Locks inside one process.
 */
@NullMarked
package io.dlock.store.memory;

import org.jspecify.annotations.NullMarked;
