package io.dlock.engine;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreException;

/**
 * The knowledge of a local queue about its lock, which the first of the queue has from
 * the store: the lock has a holder, in this process or elsewhere, or the store failed.
 *
 * @param here the call of this process that holds the lock, or {@code null}
 * @param elsewhere the holder that the store named, or {@code null}
 * @param failure the failure of the store, or {@code null} if the lock has a holder
 */
record QueueAnswer(@Nullable AcquireContext here, @Nullable String elsewhere, @Nullable StoreException failure) {

	static QueueAnswer heldHere(AcquireContext context) {
		return new QueueAnswer(context, null, null);
	}

	static QueueAnswer refused(@Nullable String holder) {
		return new QueueAnswer(null, holder, null);
	}

	static QueueAnswer failed(StoreException failure) {
		return new QueueAnswer(null, null, failure);
	}

	/**
	 * The name of the holder that operators see.
	 * @return the holder, or {@code null} if it has no name
	 */
	@Nullable String holder() {
		return (this.here != null) ? this.here.holder() : this.elsewhere;
	}

}
