package io.dlock.autoconfigure;

import java.util.function.Supplier;

import io.dlock.store.LockStore;

/**
 * A backend that is possible in this application.
 *
 * @param backend the backend
 * @param found what makes it possible, for messages
 * @param store creates the store if the backend is chosen
 */
record LockStoreCandidate(DlockBackend backend, String found, Supplier<LockStore> store) {

}
