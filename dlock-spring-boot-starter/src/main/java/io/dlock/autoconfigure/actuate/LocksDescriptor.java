package io.dlock.autoconfigure.actuate;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What the endpoint {@code dlocks} answers. Tokens are texts: they have more digits than
 * many readers of JSON keep of a number.
 *
 * @param instance this instance
 * @param held the locks that this instance holds
 * @param waiting the requests of this instance that wait for a lock
 * @param store the locks of all instances
 * @since 0.1
 */
public record LocksDescriptor(String instance, List<Held> held, List<Waiting> waiting, Store store) {

	/**
	 * A lock that this instance holds.
	 *
	 * @param key the key as it is stored, or its hash
	 * @param name the name of the request, or {@code null}
	 * @param reason why, or {@code null}
	 * @param thread which thread asked for it
	 * @param since since when
	 * @param until until when at least
	 * @param token the fencing token
	 * @param waiting how many requests of this instance wait for it
	 */
	public record Held(String key, @Nullable String name, @Nullable String reason, String thread, Instant since,
			Instant until, String token, int waiting) {

	}

	/**
	 * A request of this instance that waits.
	 *
	 * @param key the key as it is stored, or its hash
	 * @param name the name of the request, or {@code null}
	 * @param reason why, or {@code null}
	 * @param thread which thread asks
	 * @param since since when
	 * @param until until when, or {@code null} for ever
	 */
	public record Waiting(String key, @Nullable String name, @Nullable String reason, String thread, Instant since,
			@Nullable Instant until) {

	}

	/**
	 * The locks of all instances.
	 *
	 * @param locks the locks
	 * @param complete whether these are all
	 * @param problem why they are not to be seen, or {@code null}
	 */
	public record Store(List<Stored> locks, boolean complete, @Nullable String problem) {

	}

	/**
	 * A lock of any instance.
	 *
	 * @param key the key as it is stored, or its hash
	 * @param holder the instance and thread that took it
	 * @param reason why, or {@code null}
	 * @param since since when, by the store's clock
	 * @param until until when unless renewed, by the store's clock
	 * @param token the fencing token
	 */
	public record Stored(String key, String holder, @Nullable String reason, Instant since, Instant until,
			String token) {

	}

}
