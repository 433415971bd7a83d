package io.dlock.store.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoredLock;

/**
 * Verifies at the start that the statements work with the settings of the connections
 * that they get, and that the table keeps the microseconds of a lease. It takes a lock of
 * its own, twice, because a key that has been used is another case for the statements.
 */
final class LockTableCheck {

	private static final Duration LEASE = Duration.ofSeconds(10);

	private final String key = "dlock/start-up-check/" + UUID.randomUUID();

	private final LockStore store;

	private final Renewal renewal;

	private final JdbcLockStoreSettings settings;

	/**
	 * Create a check.
	 * @param renewal renews as the store does, and fails instead of giving no answer
	 */
	LockTableCheck(LockStore store, Renewal renewal, JdbcLockStoreSettings settings) {
		this.store = store;
		this.renewal = renewal;
		this.settings = settings;
	}

	/**
	 * Run the check.
	 * @throws StoreMisconfiguredException if a lock is granted to two owners or is not
	 * renewed, or the table loses fractions of the times
	 * @throws StoreException if there is no answer
	 */
	void run() {
		boolean once = take("first");
		boolean again = take("second");
		// by chance once in a million
		if (once && again) {
			throw new StoreMisconfiguredException(
					"The lock table '%s' does not keep microseconds, so that leases would end early."
						.formatted(this.settings.table()),
					"Create it with the script schema-<database>.sql of dlock-core (a precision of 6).", null);
		}
	}

	/**
	 * Take the lock and give it back.
	 * @return whether its times came back without fractions
	 */
	private boolean take(String owner) {
		long begin = System.nanoTime();
		boolean granted = acquire(owner);
		try {
			Optional<StoredLock> lock = this.store.find(this.key);
			List<RenewResult> renewed = this.renewal.renew(
					List.of(new RenewCommand(this.key, owner, lease()), new RenewCommand(this.key, "other", lease())));
			boolean shared = acquire("other");
			// the lease of a slow database may be over
			boolean lasts = System.nanoTime() - begin < lease().toNanos() / 2;
			if (shared) {
				this.store.release(this.key, "other");
			}
			if (renewed.contains(RenewResult.UNKNOWN)) {
				throw new StoreException(Effect.NONE, false, "The database took a lock, but did not renew it in time",
						null);
			}
			if (lasts && (!granted || shared || !renewed.equals(List.of(RenewResult.RENEWED, RenewResult.REFUSED)))) {
				throw new StoreMisconfiguredException(
						"The lock table '%s' does not exclude other owners: the first owner was %s, the second owner was %s, and the renewals of both were %s."
							.formatted(this.settings.table(), answer(granted), answer(shared), renewed),
						"Give the locks connections without settings that change the meaning of SQL, such as a compatibility mode.",
						null);
			}
			// a replica that is behind does not have it
			return lock.isPresent() && isWhole(lock.get().since()) && isWhole(lock.get().until());
		}
		finally {
			this.store.release(this.key, owner);
		}
	}

	private boolean acquire(String owner) {
		return this.store
			.acquire(new AcquireCommand(this.key, owner, lease(), "start-up check", "")) instanceof Granted;
	}

	private static String answer(boolean granted) {
		return granted ? "granted it" : "refused it";
	}

	private Duration lease() {
		Quarantine quarantine = this.settings.quarantine();
		return (quarantine != null && quarantine.longestLease().compareTo(LEASE) < 0) ? quarantine.longestLease()
				: LEASE;
	}

	private static boolean isWhole(Instant time) {
		return time.equals(time.truncatedTo(ChronoUnit.MILLIS));
	}

	/**
	 * Renews leases.
	 */
	@FunctionalInterface
	interface Renewal {

		List<RenewResult> renew(List<RenewCommand> leases);

	}

}
