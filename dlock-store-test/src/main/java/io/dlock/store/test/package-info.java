/**
 * The contract of a {@link io.dlock.store.LockStore} as tests, for stores of this project
 * and of others. {@link io.dlock.store.test.LockStoreContract} is the entry.
 */
@NullMarked
package io.dlock.store.test;

import org.jspecify.annotations.NullMarked;
