package io.dlock.store.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;

import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoredLock;

/**
 * The check that a lock table keeps the microseconds of a lease. It takes a lock of its
 * own and looks at its times.
 */
final class TimePrecisionCheck {

	private static final Duration LEASE = Duration.ofSeconds(10);

	private final LockStore store;

	private final JdbcLockStoreSettings settings;

	TimePrecisionCheck(LockStore store, JdbcLockStoreSettings settings) {
		this.store = store;
		this.settings = settings;
	}

	/**
	 * Run the check.
	 * @throws StoreMisconfiguredException if the table loses fractions of the times
	 */
	void run() {
		boolean losesFractions = losesFractions();
		if (losesFractions) {
			losesFractions = losesFractions();
		}
		if (losesFractions) {
			throw new StoreMisconfiguredException(
					"The lock table '%s' does not keep microseconds, so that leases would end early."
						.formatted(this.settings.table()),
					"Create it with the script schema-<database>.sql of dlock-core (a precision of 6).", null);
		}
	}

	/**
	 * Whether the times of a lock come back without fractions, which happens by chance
	 * once in a million; two checks in a row exclude that.
	 */
	private boolean losesFractions() {
		String owner = UUID.randomUUID().toString();
		String key = "dlock/start-up-check/" + owner;
		this.store.acquire(new AcquireCommand(key, owner, lease(), "start-up check", ""));
		Optional<StoredLock> lock = this.store.find(key);
		this.store.release(key, owner);
		// a replica that is behind does not have it
		return lock.isPresent() && isWhole(lock.get().since()) && isWhole(lock.get().until());
	}

	private Duration lease() {
		Quarantine quarantine = this.settings.quarantine();
		return (quarantine != null && quarantine.longestLease().compareTo(LEASE) < 0) ? quarantine.longestLease()
				: LEASE;
	}

	private static boolean isWhole(Instant time) {
		return time.equals(time.truncatedTo(ChronoUnit.MILLIS));
	}

}
