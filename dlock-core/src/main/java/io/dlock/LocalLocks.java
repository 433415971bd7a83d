package io.dlock;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What one process holds and waits for. Times are those of the clock of its machine.
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
	 * @param name the name of the request, or {@code null}
	 * @param reason why, or {@code null}
	 * @param thread the name of the thread that asked for the lock
	 * @param since when the lock was taken; may be earlier by the hand-off time if the
	 * thread got it from another of this process
	 * @param until until when it is certainly held if it is not renewed again
	 * @param token the fencing token
	 * @param waiting how many requests of this process wait for it
	 * @param age how long ago it was taken, by the monotonic clock
	 */
	public record Held(String key, @Nullable String name, @Nullable String reason, String thread, Instant since,
			Instant until, long token, int waiting, Duration age) {

	}

	/**
	 * A request that waits for a lock: behind another of this process, for another
	 * process, or for the answer of the store.
	 *
	 * @param key the key as it is stored
	 * @param name the name of the request, or {@code null}
	 * @param reason why, or {@code null}
	 * @param thread the name of the thread that asked for the lock
	 * @param since when it was asked for
	 * @param until until when to wait, or {@code null} for ever
	 */
	public record Waiting(String key, @Nullable String name, @Nullable String reason, String thread, Instant since,
			@Nullable Instant until) {

	}

}
