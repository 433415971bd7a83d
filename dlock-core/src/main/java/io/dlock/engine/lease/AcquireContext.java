package io.dlock.engine.lease;

import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;

/**
 * One call for a lock: the request, the end of its wait, and the thread that asks. Two
 * calls are never equal.
 */
public final class AcquireContext {

	private static final Pattern CONTROL_CHARACTERS = Pattern.compile("\\p{Cntrl}");

	/** The stores keep this many characters of a text. */
	private static final int MAX_LENGTH = 255;

	private final LockRequest request;

	private final String storageKey;

	private final LeaseTerms terms;

	private final Deadline deadline;

	private final String instance;

	private final @Nullable MailboxAddress address;

	private final String queueName;

	private final Thread requester = Thread.currentThread();

	/**
	 * Create a call.
	 * @param address the address of a fair request, or {@code null}
	 */
	public AcquireContext(LockRequest request, Deadline deadline, LockSettings settings,
			@Nullable MailboxAddress address) {
		this(request, deadline, settings,
				(request.mode() == LockMode.SHARED) ? LeaseTerms.SHARED : LeaseTerms.EXCLUSIVE, address);
	}

	/**
	 * Create a call.
	 * @param request the request
	 * @param deadline the end of its wait
	 * @param settings the defaults
	 * @param limit how many may hold the key at once, as in {@link LeaseTerms}
	 */
	public AcquireContext(LockRequest request, Deadline deadline, LockSettings settings, int limit) {
		this(request, deadline, settings, limit, null);
	}

	private AcquireContext(LockRequest request, Deadline deadline, LockSettings settings, int limit,
			@Nullable MailboxAddress address) {
		this.request = request;
		this.storageKey = StorageKey.of(request.key());
		this.terms = new LeaseTerms(settings.leaseOf(request), request.renew(), limit);
		this.deadline = deadline;
		this.instance = settings.instance();
		this.address = address;
		this.queueName = (address != null) ? address.message(this.storageKey) : this.storageKey;
	}

	public LockRequest request() {
		return this.request;
	}

	public String key() {
		return this.request.key();
	}

	public String storageKey() {
		return this.storageKey;
	}

	/**
	 * The address of a fair request, which has a place of its own in the queue of the
	 * store.
	 * @return the address, or {@code null} if the request shares the place of its process
	 */
	public @Nullable MailboxAddress address() {
		return this.address;
	}

	/**
	 * The name of the local queue. A fair request has a queue of its own: the store alone
	 * decides on the order.
	 * @return the storage key or the message to the request
	 */
	public String queueName() {
		return this.queueName;
	}

	public LeaseTerms terms() {
		return this.terms;
	}

	public Deadline deadline() {
		return this.deadline;
	}

	/**
	 * The name of the calling thread.
	 * @return the name
	 */
	public String thread() {
		return this.requester.getName();
	}

	/**
	 * The name of the holder that operators see.
	 * @return the instance and the thread
	 */
	public String holder() {
		return abbreviate(this.instance + " [" + thread() + "]");
	}

	/**
	 * The reason that operators see.
	 * @return the reason, empty if the request has none
	 */
	public String reason() {
		return (this.request.reason() != null) ? abbreviate(this.request.reason()) : "";
	}

	/**
	 * Not all stores keep control characters.
	 */
	private static String abbreviate(String text) {
		String shortened = (text.length() <= MAX_LENGTH) ? text : text.substring(0, MAX_LENGTH - 1) + "…";
		for (int i = 0; i < shortened.length(); i++) {
			if (Character.isISOControl(shortened.charAt(i))) {
				return CONTROL_CHARACTERS.matcher(shortened).replaceAll(" ");
			}
		}
		return shortened;
	}

	/**
	 * The lease that a request asks for. A lease is passed on to requests with equal
	 * terms only.
	 *
	 * @param lease the length of the lease
	 * @param renewed whether the lease is renewed
	 * @param limit how many members may hold the key at once: the limit of a permit,
	 * {@link #SHARED}, or {@link #EXCLUSIVE} for no member
	 */
	public record LeaseTerms(Duration lease, boolean renewed, int limit) {

		public static final int EXCLUSIVE = 0;

		static final int SHARED = AcquireCommand.UNLIMITED;

		/**
		 * The terms of an exclusive lock.
		 */
		public LeaseTerms(Duration lease, boolean renewed) {
			this(lease, renewed, EXCLUSIVE);
		}

		/**
		 * Whether the key may be held by others at the same time.
		 */
		public boolean isMember() {
			return this.limit != EXCLUSIVE;
		}

		public boolean isShared() {
			return this.limit == SHARED;
		}

	}

}
