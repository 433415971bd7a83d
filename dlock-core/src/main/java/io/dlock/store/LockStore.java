package io.dlock.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Keeps the leases. A store decides which owner holds a key; waiting, renewal, validity
 * and reentrancy belong to the engine.
 * <p>
 * The contract, which the suite of {@code dlock-store-test} checks on every store:
 * <ul>
 * <li>Every decision is atomic and uses the store's own clock. No time of the calling
 * machine is sent or compared.</li>
 * <li>{@link #acquire} is idempotent by owner: if this owner already holds the key, the
 * answer is granted, with the same token. The lease starts anew but is never shortened,
 * because a request may arrive late. {@link StoredLock#since()} stays.</li>
 * <li>The tokens of a key increase with each new owner, even after the store has lost its
 * data or cleaned up: {@code max(stored + 1, store clock in µs)}.</li>
 * <li>{@link #renew}, {@link #release} and {@link #keep} change nothing unless the owner
 * holds the key.</li>
 * <li>An owner whose lease is over holds nothing, also while the key has no other owner.
 * The same is true of a reservation. The key is then free: {@link #find} and the lists of
 * {@link #inspection} do not show it, a release passes nothing on, and any request is
 * granted the key, regardless of the queue, except a {@linkplain AcquireCommand#isFair
 * fair} one that others precede. If the same owner asks again, it is granted the key like
 * any other; its token is the last one or a larger one.</li>
 * <li>A refused caller may register a {@linkplain MailboxAddress mailbox address} and
 * join the queue. A release reserves the lock for the first process of the queue and
 * notifies it. Both serve speed and fairness only: a store may forget the queue, bound
 * its length and lose a message, since a waiting process also polls.</li>
 * <li>Each call returns or throws within a small multiple of the store's command timeout:
 * waiting for a connection, opening it and the command itself may take one command
 * timeout each.</li>
 * <li>A failure is a {@link StoreException}, which says whether the command may have
 * taken effect. A failure is never reported as an answer.</li>
 * <li>Keys are compared exactly, whatever characters they contain; see
 * {@link StorageKey}.</li>
 * </ul>
 * A store that {@linkplain #supportsMembers() supports members} also lets several owners
 * hold a key at once, for shared locks and permits. The {@linkplain #isMember owner}
 * tells a member from an exclusive owner. The contract of such a store also says:
 * <ul>
 * <li>Each member has a lease and a token of its own. The tokens of a key rise across
 * both modes: from each member to the next member and to the next exclusive owner.</li>
 * <li>A member is granted the key if it is free, reserved for its process, or held by
 * fewer living members than {@link AcquireCommand#limit()}. Reservations for other
 * processes count as members. A limit is never stored: a smaller one revokes nothing. A
 * store must allow 1,000 members of a key. It may refuse more, as if that were the
 * limit.</li>
 * <li>While an exclusive request is queued behind members, another member is granted the
 * key only if a place is reserved for its process.</li>
 * <li>If {@link AcquireCommand#releasing()} names the exclusive holder, the member takes
 * its place in the same step, ahead of every queued request. If it names an exclusive
 * owner that does not hold the key any more, the member is refused, even if the key is
 * free: another owner may have come and gone. A member that holds the key already is
 * granted it in any case. A request that names a member releases that member first.</li>
 * <li>An exclusive request is refused until the last member has released the key or its
 * lease is over.</li>
 * <li>A place that a member frees is reserved for the first process of the queue, if that
 * process queued for a member or no member is left. A grant to a member reserves the
 * places that are still free for the members at the head of the queue.</li>
 * <li>{@link #renew}, {@link #release} and a forced release act on one member.</li>
 * </ul>
 * Methods added to this interface in later versions have default implementations.
 *
 * @since 0.1
 */
public interface LockStore extends AutoCloseable {

	/**
	 * Acquire a key if it is free, its lease is over, or this owner holds it. If the
	 * command names another owner of this process to release, its lock is released first,
	 * in the same step and as {@link #release} does: the lock then goes to the first
	 * process of the queue, if there is one, and otherwise to this owner. The other owner
	 * holds nothing afterwards, whatever the answer. After an exception it may still hold
	 * the key.
	 * @param command the key, its owner and the lease
	 * @return granted or refused
	 * @throws StoreQuarantinedException if the store grants no lock for a while; it has
	 * granted nothing
	 * @throws StoreException if there is no answer
	 * @throws IllegalArgumentException if the store cannot honour the command: its lease
	 * is longer than the longest lease of the {@link Quarantine}, or the owner is a
	 * member although the store supports none; nothing has changed
	 */
	AcquireResult acquire(AcquireCommand command);

	/**
	 * Whether this store can {@linkplain #acquireAll acquire several keys} in one round
	 * trip. Any other store is asked for one key after another. The answer may be
	 * {@code false} until the first call to the store.
	 * @return whether it can
	 */
	default boolean supportsBatches() {
		return false;
	}

	/**
	 * Acquire several keys, each as {@link #acquire} does. The refusal of a key does not
	 * keep the keys after it from being granted. In all refusals but the first,
	 * {@link AcquireResult.Refused#lock()} may be {@code null} and
	 * {@link AcquireResult.Refused#remaining()} zero.
	 * @param commands the commands, of exclusive owners that release no other, in the
	 * order of their {@linkplain StorageKey storage keys}; they differ only in key, owner
	 * and queueing, and no key occurs twice
	 * @return one result for each command, in the same order; a failure of the store is
	 * {@link AcquireResult.Failed}, not an exception
	 * @throws IllegalArgumentException as from {@link #acquire}
	 */
	default List<AcquireResult> acquireAll(List<AcquireCommand> commands) {
		return commands.stream().map(this::acquireOne).toList();
	}

	private AcquireResult acquireOne(AcquireCommand command) {
		try {
			return acquire(command);
		}
		catch (StoreException ex) {
			return new AcquireResult.Failed(ex);
		}
	}

	/**
	 * Renew the leases of these locks from now on, in as few round trips as the store
	 * allows. Never shortens a lease.
	 * @param leases the leases; a key and its owner may occur twice, and the longer lease
	 * counts
	 * @return one result for each lease, in the same order; a failure of the store is
	 * {@link RenewResult#UNKNOWN}, not an exception
	 */
	List<RenewResult> renew(List<RenewCommand> leases);

	/**
	 * Release a key if this owner holds it, or reserve it for the first process of the
	 * queue and notify that process.
	 * @param key the key
	 * @param owner the owner
	 * @return whether this owner held the key, which is free or reserved now;
	 * {@code false} if this owner does not hold it, because of an earlier call or because
	 * its lease is over
	 * @throws StoreException if there is no answer
	 */
	boolean release(String key, String owner);

	/**
	 * Free a key as {@link #release(String, String)} does, and report when the request is
	 * on its way.
	 * @param key the key
	 * @param owner the owner
	 * @param onSent called, perhaps more than once, as soon as every later command to
	 * this store is certain to take effect after the release; never called by a store
	 * that cannot tell
	 * @return as {@link #release(String, String)}
	 * @throws StoreException if there is no answer
	 */
	default boolean release(String key, String owner, Runnable onSent) {
		return release(key, owner);
	}

	/**
	 * Free several keys, each as {@link #release(String, String)} does, in as few round
	 * trips as the store allows. By default one after the other.
	 * @param releases the keys, no key twice
	 * @return one result for each key, in the same order; a failure of the store is
	 * {@link ReleaseResult#UNKNOWN}, not an exception
	 */
	default List<ReleaseResult> releaseAll(List<ReleaseCommand> releases) {
		return releases.stream().map(this::releaseOne).toList();
	}

	private ReleaseResult releaseOne(ReleaseCommand release) {
		try {
			return release(release.key(), release.owner()) ? ReleaseResult.RELEASED : ReleaseResult.REFUSED;
		}
		catch (StoreException ex) {
			return ReleaseResult.UNKNOWN;
		}
	}

	/**
	 * Send a {@link #release} and return without waiting for the answer, if this store
	 * can do that on the calling thread. Commands that are sent to this store afterwards
	 * take effect after the release.
	 * @param key the key
	 * @param owner the owner
	 * @param onFailure takes the failure if there is no answer; does not block
	 * @return {@code false} if this store cannot do that and has done nothing
	 * @throws StoreException if the release could not be sent
	 */
	default boolean releaseAsync(String key, String owner, Consumer<StoreException> onFailure) {
		return false;
	}

	/**
	 * Keep a lock that its holder has released until its lease is over. Until then the
	 * lock is shown as {@linkplain StoredLock#kept kept} and not as held, a refusal names
	 * no holder, and its owner neither renews nor releases it. Its {@linkplain #keptOwner
	 * new owner} can {@linkplain #release release} it.
	 * @param key the key
	 * @param owner the owner
	 * @param rest how long to keep it from now; may shorten the lease
	 * @return whether the lock is kept; {@code false} if this owner does not hold it,
	 * because of an earlier call or because its lease is over, or this store cannot keep
	 * it: the lock is then renewed and released later. Members are never kept.
	 * @throws StoreException if there is no answer
	 */
	default boolean keep(String key, String owner, Duration rest) {
		return false;
	}

	/**
	 * The owner of a lock that is {@linkplain #keep kept} after its release.
	 * @param owner the owner that has released it
	 * @return the owner that the store knows it by
	 */
	static String keptOwner(String owner) {
		return '~' + owner.substring(1);
	}

	/**
	 * Whether this store lets several owners hold a key at once. Any other store is asked
	 * for exclusive owners only.
	 * @return whether it does
	 */
	default boolean supportsMembers() {
		return false;
	}

	/**
	 * Whether this store supports fair locks: its releases pass a key on to requests that
	 * have an address of their own, in the order in which the store first saw them, and
	 * so does a {@linkplain AcquireCommand#isFair fair} acquire of a key whose lease or
	 * reservation is over. Any other store is not asked for
	 * {@linkplain MailboxAddress#ofRequest fair} locks. A store without a queue cannot
	 * pass a key on. The order need not outlast a full queue, a loss of data, or a second
	 * after a lease without a request.
	 * @return whether they do
	 */
	default boolean supportsFairLocks() {
		return false;
	}

	/**
	 * Whether an owner holds its key together with others. Such an owner begins with
	 * {@code +}.
	 * @param owner an owner
	 * @return whether it is a member
	 */
	static boolean isMember(String owner) {
		return owner.startsWith("+");
	}

	/**
	 * Mark an owner as a member.
	 * @param owner an exclusive owner
	 * @return the owner whose first character is replaced by the mark
	 */
	static String memberOwner(String owner) {
		return '+' + owner.substring(1);
	}

	/**
	 * Leave the queue of a key. A lock that is reserved for this process goes to the next
	 * process of the queue. Without an entry and a reservation nothing changes.
	 * @param storageKey the {@linkplain StorageKey storage key}
	 * @param mailbox the address given with the acquire
	 * @throws StoreException if there is no answer
	 */
	default void leave(String storageKey, MailboxAddress mailbox) {
	}

	/**
	 * Listen at an address. A process calls this when it waits for the first time, and
	 * again after a failure. The store sends one message for each reservation, and may
	 * send one for a queued request whose lock is free. A message is a hint: after a
	 * failure it may come late, twice or never. The receiver polls as well, and asks the
	 * store after each message.
	 * @param address the address
	 * @param onLockAvailable takes the {@linkplain MailboxAddress#message message} that a
	 * lock is reserved for this process or for one of its requests; does not block
	 * @return the mailbox, or {@code null} if this store sends no messages
	 * @throws StoreException if the mailbox cannot be opened now
	 */
	default @Nullable Mailbox openMailbox(MailboxAddress address, Consumer<String> onLockAvailable) {
		return null;
	}

	/**
	 * Look up the holder of a key, or one of its members. A lock that is reserved for a
	 * waiting process is free. A lock that is {@linkplain #keep kept} is not.
	 * @param key the key
	 * @return the lock, or empty if it is free or its lease is over
	 * @throws StoreException if there is no answer
	 */
	Optional<StoredLock> find(String key);

	/**
	 * Check at start-up that the store can be used: it answers, and meets its
	 * requirements.
	 * @throws StoreException if it does not answer
	 * @throws StoreMisconfiguredException if a requirement is not met; the message names
	 * it and the remedy
	 */
	void verify();

	/**
	 * Remove some records that expired long ago. Each process calls this now and then. A
	 * store that cleans up by itself does nothing.
	 * @return whether there is more to remove, so that the next call should follow soon
	 * @throws StoreException if there is no answer
	 */
	default boolean sweep() {
		return false;
	}

	/**
	 * How long this store grants no lock after a failover, as far as this process knows.
	 * Does not call the store.
	 * @return the rest of the {@linkplain Quarantine quarantine}, zero if there is none
	 * now; empty if this store grants locks at once after a failover
	 */
	default Optional<Duration> quarantine() {
		return Optional.empty();
	}

	/**
	 * The operations for operators.
	 * @return the inspection, or {@code null} if this store has none
	 */
	default @Nullable StoreInspection inspection() {
		return null;
	}

	/**
	 * The store in one line, for people: kind and address, without credentials.
	 * @return the description
	 */
	String describe();

	/**
	 * Close the resources that the store opened for itself.
	 */
	@Override
	void close();

	/**
	 * The command to acquire a key.
	 *
	 * @param key the key as the user wrote it
	 * @param owner the identity of this attempt: 128 random bits as 32 characters of
	 * ASCII, of which the first is {@code +} for a member, and neither {@code >} nor
	 * {@code ~}, which mark reservations and kept locks
	 * @param lease how long to hold it
	 * @param holder the holder, for people; a store may cut it after 255 characters
	 * @param reason the reason, for people; empty if there is none; a store may cut it
	 * after 255 characters
	 * @param mailbox the address of this process, for which the key may be reserved, or
	 * {@code null} if the process has never waited
	 * @param queueing whether to join the queue with that address after a refusal
	 * @param releasing another owner of this process that releases the key in the same
	 * step, or {@code null}
	 * @param limit how many {@linkplain LockStore#isMember members} may hold the key at
	 * once, this one included; at least 1, {@link #UNLIMITED} for a shared lock; ignored
	 * if the owner is not a member
	 */
	record AcquireCommand(String key, String owner, Duration lease, String holder, String reason,
			@Nullable MailboxAddress mailbox, boolean queueing, @Nullable String releasing, int limit) {

		/**
		 * The limit of a shared lock.
		 */
		public static final int UNLIMITED = Integer.MAX_VALUE;

		public AcquireCommand {
			if (queueing && mailbox == null) {
				throw new IllegalArgumentException("A command that joins the queue needs a mailbox");
			}
			if (limit < 1) {
				throw new IllegalArgumentException("A limit is at least 1, but this is " + limit);
			}
		}

		/**
		 * Whether this is a request for a fair lock, which waits for its turn. If the
		 * lease of the holder is over, or a reservation, and other processes precede this
		 * request in the queue, the lock is reserved for the first of them.
		 * @return whether it is
		 */
		public boolean isFair() {
			return this.queueing && this.mailbox != null && this.mailbox.isOfRequest();
		}

		/**
		 * Create a command for an exclusive owner.
		 * @param key the key
		 * @param owner the owner
		 * @param lease the lease
		 * @param holder the holder
		 * @param reason the reason
		 * @param mailbox the address of this process, or {@code null}
		 * @param queueing whether to join the queue
		 * @param releasing another owner of this process, or {@code null}
		 */
		public AcquireCommand(String key, String owner, Duration lease, String holder, String reason,
				@Nullable MailboxAddress mailbox, boolean queueing, @Nullable String releasing) {
			this(key, owner, lease, holder, reason, mailbox, queueing, releasing, 1);
		}

		/**
		 * Create a command for a process that does not wait.
		 * @param key the key
		 * @param owner the owner
		 * @param lease the lease
		 * @param holder the holder
		 * @param reason the reason
		 */
		public AcquireCommand(String key, String owner, Duration lease, String holder, String reason) {
			this(key, owner, lease, holder, reason, null, false, null);
		}

	}

	/**
	 * The command to renew a lease.
	 *
	 * @param key the key
	 * @param owner the owner that holds it
	 * @param lease how long to hold it from now
	 */
	record RenewCommand(String key, String owner, Duration lease) {

	}

	/**
	 * The command to release a key.
	 *
	 * @param key the key
	 * @param owner the owner that holds it
	 */
	record ReleaseCommand(String key, String owner) {

	}

}
