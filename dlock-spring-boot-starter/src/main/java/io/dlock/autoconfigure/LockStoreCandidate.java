package io.dlock.autoconfigure;

import java.util.function.Supplier;

import io.dlock.store.LockStore;

/**
 * A backend that is possible in this application.
 *
 * @param backend the backend
 * @param found what makes it possible, for messages
 * @param source the type of the beans that the store gets its connections from
 * @param store creates the store if the backend is chosen
 */
public record LockStoreCandidate(DlockBackend backend, String found, Class<?> source, Supplier<LockStore> store) {

}
