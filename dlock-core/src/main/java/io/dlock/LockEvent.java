package io.dlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * An event of a lock in this process.
 * <p>
 * A request ends with {@link Acquired}, {@link Busy} or {@link StoreFailed}, or with none
 * of them if it was interrupted or cancelled, or the registry was closed. A lock that was
 * acquired ends with one {@link Released} or one {@link Lost}, which come after its
 * {@code Acquired}; in between come its {@link Renewed} and {@link RenewalFailed}. A lock
 * that one thread passes on to another in this process is released and acquired like any
 * other. Nested handles share a lock and have no events. A listener gets no events for
 * locks that were acquired before it was added.
 * <p>
 * {@code Released} comes after the lock is free, so that the {@code Acquired} of the next
 * holder may come before it.
 * <p>
 * New events may be added in later versions: give a {@code switch} a default.
 *
 * @since 0.1
 * @see LockListener
 */
public sealed interface LockEvent {

	/**
	 * The key of the lock. Not for tags of metrics: there may be many keys, and they may
	 * contain personal data.
	 * @return the key as it was requested
	 */
	String key();

	/**
	 * The name of the request, for tags of metrics.
	 * @return the {@linkplain LockRequest#name() name of the request}, or {@code null}
	 */
	@Nullable String name();

	/**
	 * The reason of the request.
	 * @return the {@linkplain LockRequest#reason() reason of the request}, or
	 * {@code null}
	 */
	@Nullable String reason();

	/**
	 * A text for a log, on one line even if the key or the reason contains line breaks.
	 */
	private static String text(LockEvent event, String more) {
		return LockRequest.printable(event.getClass().getSimpleName() + "[key=" + LockRequest.abbreviate(event.key())
				+ ", name=" + event.name() + ", reason=" + event.reason() + more + "]");
	}

	/**
	 * A lock was acquired.
	 *
	 * @param key the key
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param token the fencing token
	 * @param waited the time from the request to the grant
	 */
	record Acquired(String key, @Nullable String name, @Nullable String reason, long token,
			Duration waited) implements LockEvent {

		@Override
		public String toString() {
			return text(this, ", token=" + this.token + ", waited=" + this.waited);
		}

	}

	/**
	 * A lock was not acquired, because another caller held it for the whole wait time.
	 *
	 * @param key the key
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param waited how long the request waited
	 * @param holder the holder, or {@code null} if unknown, see
	 * {@link LockBusyException#holder()}
	 */
	record Busy(String key, @Nullable String name, @Nullable String reason, Duration waited,
			@Nullable LockInfo holder) implements LockEvent {

		@Override
		public String toString() {
			return text(this, ", waited=" + this.waited + ", holder=" + this.holder);
		}

	}

	/**
	 * A lock was not acquired, because the store did not decide: it failed, was in
	 * quarantine, or this process was congested, see
	 * {@link LockStoreException#isOutage()}.
	 *
	 * @param key the key
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param waited how long the request waited
	 * @param failure the exception of the request
	 * @param failOpen whether the work is done without the lock, which is worth an alarm
	 */
	record StoreFailed(String key, @Nullable String name, @Nullable String reason, Duration waited,
			LockStoreException failure, boolean failOpen) implements LockEvent {

		@Override
		public String toString() {
			return text(this, ", waited=" + this.waited + ", failure=" + this.failure + ", failOpen=" + this.failOpen);
		}

	}

	/**
	 * The lease of a lock was renewed. Skipped when listeners do not keep up.
	 *
	 * @param key the key
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param token the fencing token
	 * @param held how long the lock has been held
	 * @param remaining how long the lock is held if it is not renewed again
	 */
	record Renewed(String key, @Nullable String name, @Nullable String reason, long token, Duration held,
			Duration remaining) implements LockEvent {

		@Override
		public String toString() {
			return text(this, ", token=" + this.token + ", held=" + this.held + ", remaining=" + this.remaining);
		}

	}

	/**
	 * A renewal of the lease of a lock got no answer from the store. The renewal is
	 * repeated as long as the lock is valid, with an event for each failure. Skipped when
	 * listeners do not keep up.
	 *
	 * @param key the key
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param token the fencing token
	 * @param held how long the lock has been held
	 * @param remaining how long the lock is held if no renewal succeeds
	 */
	record RenewalFailed(String key, @Nullable String name, @Nullable String reason, long token, Duration held,
			Duration remaining) implements LockEvent {

		@Override
		public String toString() {
			return text(this, ", token=" + this.token + ", held=" + this.held + ", remaining=" + this.remaining);
		}

	}

	/**
	 * A lock was released by its holder.
	 *
	 * @param key the key
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param token the fencing token
	 * @param held how long the lock was held
	 * @param remaining how long the lock would have been held without another renewal: if
	 * that comes close to zero, locks will be lost
	 */
	record Released(String key, @Nullable String name, @Nullable String reason, long token, Duration held,
			Duration remaining) implements LockEvent {

		@Override
		public String toString() {
			return text(this, ", token=" + this.token + ", held=" + this.held + ", remaining=" + this.remaining);
		}

	}

	/**
	 * A lock was lost while it was held.
	 *
	 * @param key the key
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param token the fencing token
	 * @param held how long the lock was held until the loss was found
	 * @param cause the reason of the loss, for people
	 * @param type the type of the loss, for metrics
	 */
	record Lost(String key, @Nullable String name, @Nullable String reason, long token, Duration held, String cause,
			LossType type) implements LockEvent {

		@Override
		public String toString() {
			return text(this,
					", token=" + this.token + ", held=" + this.held + ", cause=" + this.cause + ", type=" + this.type);
		}

	}

}
