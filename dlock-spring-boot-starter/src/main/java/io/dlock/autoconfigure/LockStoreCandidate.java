package io.dlock.autoconfigure;

import java.util.function.Function;
import java.util.function.Supplier;

import io.dlock.store.LockStore;

/**
 * A backend that is possible in this application.
 *
 * @param backend the backend
 * @param found the bean that makes it possible, for messages
 * @param type the type of that bean
 * @param source chooses the bean, which must outlive the store
 * @param store creates the store on that bean if the backend is selected
 * @param <S> the type of the source
 */
public record LockStoreCandidate<S>(DlockBackend backend, String found, Class<S> type, Supplier<S> source,
		Function<S, LockStore> store) {

}
