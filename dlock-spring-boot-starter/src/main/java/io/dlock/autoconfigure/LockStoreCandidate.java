package io.dlock.autoconfigure;

import java.util.function.Supplier;

import io.dlock.store.LockStore;

/**
 * A backend that is possible in this application.
 *
 * @param backend the backend
 * @param found the bean that makes it possible, for messages
 * @param source the type of that bean, which must outlive the store
 * @param store creates the store if the backend is selected
 */
public record LockStoreCandidate(DlockBackend backend, String found, Class<?> source, Supplier<LockStore> store) {

}
