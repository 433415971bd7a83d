package io.dlock.engine;

import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.PermitRegistry;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.store.StorageKey;

/**
 * Makes calls for permits, which have keys of their own.
 */
final class Permits {

	private final LockSettings settings;

	private final StoreAcquirer store;

	Permits(LockSettings settings, StoreAcquirer store) {
		this.settings = settings;
		this.store = store;
	}

	/**
	 * Create a call for a permit.
	 * @param limit how many permits may be held at once
	 * @param deadline the end of the wait
	 * @return the call
	 * @throws IllegalArgumentException if the request cannot be honoured
	 */
	AcquireContext context(LockRequest request, int limit, Deadline deadline) {
		validate(request, limit);
		return new AcquireContext(request.withKey(PermitRegistry.PERMIT_PREFIX + request.key()), deadline,
				this.settings, limit);
	}

	/**
	 * Check that a request can be honoured.
	 * @param limit how many permits may be held at once
	 * @throws IllegalArgumentException if it cannot
	 */
	void validate(LockRequest request, int limit) {
		this.settings.validate(request);
		String key = StorageKey.of(request.key());
		int longest = LockRequest.MAX_KEY_LENGTH - PermitRegistry.PERMIT_PREFIX.length();
		if (request.key().length() > longest) {
			throw new IllegalArgumentException(
					"The key of a permit must not be longer than %d characters but has %d: '%s'".formatted(longest,
							request.key().length(), key));
		}
		if (limit < 1 || limit > PermitRegistry.MAX_PERMITS) {
			throw new IllegalArgumentException("The limit of '%s' must be from 1 to %d but is %d".formatted(key,
					PermitRegistry.MAX_PERMITS, limit));
		}
		if (request.mode() == LockMode.SHARED) {
			throw new IllegalArgumentException(
					"A permit of '%s' cannot be shared: each caller takes one of its own. Use LockMode.EXCLUSIVE"
						.formatted(key));
		}
		if (!this.store.supportsMembers()) {
			throw new IllegalArgumentException(
					"'%s' cannot have a limit, because the store has exclusive locks only (%s). Use a lock or another store"
						.formatted(key, this.store.describe()));
		}
	}

}
