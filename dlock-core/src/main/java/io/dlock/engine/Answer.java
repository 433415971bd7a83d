package io.dlock.engine;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreException;

/**
 * The knowledge of a local queue about its lock, which the first of the queue has from
 * the store: the lock has a holder, in this process or elsewhere, or the store failed.
 *
 * @param here the request of this process that holds the lock, or {@code null}
 * @param elsewhere the holder that the store named, or {@code null}
 * @param failure the failure of the store, or {@code null} if the lock has a holder
 */
record Answer(@Nullable Acquisition here, @Nullable String elsewhere, @Nullable StoreException failure) {

	static Answer heldHere(Acquisition request) {
		return new Answer(request, null, null);
	}

	static Answer refused(@Nullable String holder) {
		return new Answer(null, holder, null);
	}

	static Answer failed(StoreException failure) {
		return new Answer(null, null, failure);
	}

	/**
	 * The name of the holder, for people.
	 * @return the holder, or {@code null} if it has no name
	 */
	@Nullable String holder() {
		return (this.here != null) ? this.here.holder() : this.elsewhere;
	}

}
