package io.dlock.autoconfigure.actuate.console;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The state that the console shows, as JSON. Ages and remaining times are seconds by the
 * clocks of the servers, so that a reader needs no clock. A reader refuses a
 * {@code version} that it does not know; new fields do not change the version.
 *
 * @param version the version of this format, 1
 * @param keys {@code shown} or {@code hidden}
 * @param release whether this caller may take locks away: {@code allowed}, {@code off} or
 * {@code unauthorized}
 * @param process this process
 * @param store the store
 * @param locks the locks, one page of them
 * @param events the latest incidents of this process
 * @since 0.1
 */
public record ConsoleDescriptor(int version, String keys, String release, Instance process, Store store, Locks locks,
		Events events) {

	/**
	 * The process that answers.
	 *
	 * @param instance its name as a holder of locks
	 * @param held the number of locks that it holds
	 * @param waiting the number of its requests that wait
	 * @param renewals the number of renewals since its start
	 * @param failedRenewals the number of renewals without an answer since its start
	 * @param secondsToNextExpiry the shortest time for which one of its locks is valid
	 * without another renewal, or {@code null} if it holds none
	 */
	public record Instance(String instance, int held, int waiting, long renewals, long failedRenewals,
			@Nullable Double secondsToNextExpiry) {

	}

	/**
	 * The store, when a lock was last taken and released to check it.
	 *
	 * @param state {@code up}, {@code down} or {@code unknown}
	 * @param name the kind and address of the store, or {@code null} if it is unknown
	 * @param server the product and version of the server, or {@code null}
	 * @param role the role of the server, or {@code null}
	 * @param failure the reason why no lock can be taken, or {@code null}
	 * @param tookMillis the time to take and release a lock, or {@code null}
	 * @param checkedSeconds the age of the check, or {@code null}
	 * @param quarantineSeconds how long the store grants no lock after a failover, as far
	 * as this process knows, or {@code null}
	 * @param warnings settings of the server that may cost a lock, and a quarantine
	 */
	public record Store(String state, @Nullable String name, @Nullable String server, @Nullable String role,
			@Nullable String failure, @Nullable Double tookMillis, @Nullable Double checkedSeconds,
			@Nullable Double quarantineSeconds, List<String> warnings) {

	}

	/**
	 * A page of the locks of all processes.
	 *
	 * @param page the number of the page, from 1
	 * @param pages the number of pages
	 * @param matching the number of locks that match the filter
	 * @param total the number of all locks that were looked at
	 * @param complete whether these are all locks of the store
	 * @param problem the reason why locks of other processes are missing, or {@code null}
	 * @param items the locks of the page
	 */
	public record Locks(int page, int pages, int matching, int total, boolean complete, @Nullable String problem,
			List<Lock> items) {

	}

	/**
	 * A lock that is held, kept or waited for.
	 *
	 * @param key the key as it is stored, or its hash
	 * @param kind {@code exclusive}, {@code shared} or {@code permit}, or {@code null} if
	 * the lock has no holder
	 * @param holders the holders, at most 50
	 * @param holderCount the number of all holders
	 * @param waiters the requests of this process that wait, at most 50
	 * @param waiterCount the number of all of them
	 */
	public record Lock(String key, @Nullable String kind, List<Holder> holders, int holderCount, List<Waiter> waiters,
			int waiterCount) {

	}

	/**
	 * A holder of a lock.
	 *
	 * @param holder the instance and thread; of a lock that is kept, the last ones
	 * @param here whether it is in this process
	 * @param state {@code held}, or {@code kept} after the release
	 * @param name the name of the request, or {@code null} if only another process knows
	 * @param reason the reason, or {@code null}
	 * @param token the fencing token
	 * @param heldSeconds the time since the acquire
	 * @param leaseSeconds the time until the lease ends unless it is renewed
	 */
	public record Holder(String holder, boolean here, String state, @Nullable String name, @Nullable String reason,
			String token, double heldSeconds, double leaseSeconds) {

	}

	/**
	 * A request of this process that waits.
	 *
	 * @param thread the thread
	 * @param kind {@code exclusive}, {@code shared} or {@code permit}
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason, or {@code null}
	 * @param waitedSeconds how long it has waited
	 * @param leftSeconds for how much longer it will wait, or {@code null} if without an
	 * end
	 */
	public record Waiter(String thread, String kind, @Nullable String name, @Nullable String reason,
			double waitedSeconds, @Nullable Double leftSeconds) {

	}

	/**
	 * Incidents of the last 15 minutes.
	 *
	 * @param lost the number of locks that were lost
	 * @param busy the number of requests that were refused
	 * @param renewalFailed the number of renewals without an answer
	 * @param storeFailed the number of requests that the store failed
	 * @param items the newest of those that match the filter, at most 100
	 */
	public record Events(long lost, long busy, long renewalFailed, long storeFailed, List<Event> items) {

	}

	/**
	 * An incident.
	 *
	 * @param type {@code lost}, {@code busy}, {@code renewal-failed} or
	 * {@code store-failed}
	 * @param agoSeconds its age
	 * @param key the key as it is stored, or its hash
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param token the fencing token, or {@code null}
	 * @param text what happened
	 */
	public record Event(String type, double agoSeconds, String key, @Nullable String name, @Nullable String reason,
			@Nullable String token, String text) {

	}

}
