package io.dlock.console;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The locks and waiting requests of one process. Times are those of its machine's clock.
 *
 * @param held the locks that are held
 * @param waiting the requests that wait for a lock
 * @since 0.1
 */
public record LocalLocks(List<Held> held, List<Waiting> waiting) {

	public LocalLocks {
		held = List.copyOf(held);
		waiting = List.copyOf(waiting);
	}

	/**
	 * A lock that is held.
	 *
	 * @param key the key as it is stored
	 * @param kind the kind of the lock
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param thread the name of the thread that requested the lock
	 * @param since when the lock was acquired; may be earlier by the hand-off time if the
	 * lock was passed on inside this process
	 * @param until when the lock ends if it is not renewed again
	 * @param token the fencing token
	 * @param waiting the number of requests of this process that wait for the lock
	 * @param age the time since the lock was acquired, by the monotonic clock
	 */
	public record Held(String key, LockKind kind, @Nullable String name, @Nullable String reason, String thread,
			Instant since, Instant until, long token, int waiting, Duration age) {

	}

	/**
	 * A request that waits for a lock: behind another request of this process, for
	 * another process, or for the answer of the store.
	 *
	 * @param key the key as it is stored
	 * @param kind the kind of the lock
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param thread the name of the thread that requests the lock
	 * @param since when the lock was requested
	 * @param until the end of the wait time, or {@code null} if it is unlimited
	 */
	public record Waiting(String key, LockKind kind, @Nullable String name, @Nullable String reason, String thread,
			Instant since, @Nullable Instant until) {

	}

}
