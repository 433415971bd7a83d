package io.dlock.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import io.dlock.LockInfo;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockKind;

/**
 * The answer of the endpoint {@code dlocks}. Tokens are texts: many readers of JSON do
 * not keep all digits of a number.
 *
 * @param instance this instance
 * @param held the locks that this instance holds
 * @param waiting the requests of this instance that wait for a lock
 * @param store the locks of all instances
 * @since 0.1
 */
public record LocksDescriptor(String instance, List<Held> held, List<Waiting> waiting, Store store) {

	private static double seconds(Duration age) {
		return age.toMillis() / 1000.0;
	}

	private static String text(LockKind kind) {
		return kind.name().toLowerCase(Locale.ROOT);
	}

	/**
	 * A lock that this instance holds.
	 *
	 * @param key the key as it is stored, or its hash
	 * @param kind {@code exclusive}, {@code shared} or {@code permit}
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason, or {@code null}
	 * @param thread the thread that requested the lock
	 * @param since the time of the acquire
	 * @param until the earliest end of the lease
	 * @param token the fencing token
	 * @param waiting the number of requests of this instance that wait for it
	 * @param ageSeconds the time since the acquire
	 */
	public record Held(String key, String kind, @Nullable String name, @Nullable String reason, String thread,
			Instant since, Instant until, String token, int waiting, double ageSeconds) {

		static Held of(String key, LocalLocks.Held lock) {
			return new Held(key, text(lock.kind()), lock.name(), lock.reason(), lock.thread(), lock.since(),
					lock.until(), Long.toString(lock.token()), lock.waiting(), seconds(lock.age()));
		}

	}

	/**
	 * A request of this instance that waits.
	 *
	 * @param key the key as it is stored, or its hash
	 * @param kind {@code exclusive}, {@code shared} or {@code permit}
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason, or {@code null}
	 * @param thread the thread that waits
	 * @param since the begin of the wait
	 * @param until the end of the wait time, or {@code null} if it has no end
	 */
	public record Waiting(String key, String kind, @Nullable String name, @Nullable String reason, String thread,
			Instant since, @Nullable Instant until) {

		static Waiting of(String key, LocalLocks.Waiting lock) {
			return new Waiting(key, text(lock.kind()), lock.name(), lock.reason(), lock.thread(), lock.since(),
					lock.until());
		}

	}

	/**
	 * The locks of all instances.
	 *
	 * @param locks the locks
	 * @param complete whether these are all
	 * @param problem the reason why locks are missing, or {@code null}
	 */
	public record Store(List<Stored> locks, boolean complete, @Nullable String problem) {

	}

	/**
	 * A lock of any instance.
	 *
	 * @param key the key as it is stored, or its hash
	 * @param kind {@code exclusive}, {@code shared} or {@code permit}
	 * @param state {@code held}; {@code kept} if it has been released and stays taken for
	 * the rest of its {@code minHold}
	 * @param holder the instance and thread that took it, or {@code null} if it is kept
	 * @param releasedBy the instance and thread that had it last, or {@code null} if it
	 * is held
	 * @param reason the reason, or {@code null}
	 * @param since the time of the acquire, by the store's clock
	 * @param until the end of the lease unless renewed, by the store's clock; a lock that
	 * is kept is free then
	 * @param token the fencing token
	 * @param ageSeconds the time since the acquire, by the store's clock
	 */
	public record Stored(String key, String kind, String state, @Nullable String holder, @Nullable String releasedBy,
			@Nullable String reason, Instant since, Instant until, String token, double ageSeconds) {

		static Stored of(String key, LockInfo lock) {
			return new Stored(key, text(LockKind.of(lock)), lock.kept() ? "kept" : "held",
					lock.kept() ? null : lock.holder(), lock.kept() ? lock.holder() : null, lock.reason(), lock.since(),
					lock.until(), Long.toString(lock.token()), seconds(lock.age()));
		}

	}

}
