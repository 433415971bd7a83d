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
 * <li>Every decision is atomic and is taken by the store's own clock. No time of the
 * calling machine is sent or compared.</li>
 * <li>{@link #acquire} is idempotent by owner: if the key is held by this owner already
 * the answer is granted, with the same token and the lease started anew unless it lasts
 * longer: a request may arrive late.</li>
 * <li>Tokens of a key rise from owner to owner, also after the store lost its data or
 * cleaned up: {@code max(stored + 1, store clock in µs)}.</li>
 * <li>{@link #renew} and {@link #release} change nothing unless the owner holds the
 * key.</li>
 * <li>A refused caller may register a {@linkplain MailboxAddress mailbox address} and
 * join the queue. A release reserves the lock for the first process of the queue and
 * notifies it. Both serve speed and fairness only: a store may forget the queue and lose
 * a message, since a waiting process also polls.</li>
 * <li>Each call returns or throws within a small multiple of the command timeout the
 * store was made with: the wait for a connection, its opening and the command are limited
 * to one each.</li>
 * <li>A failure is a {@link StoreException} that tells whether the command can have taken
 * effect. It is never an answer.</li>
 * <li>Keys are compared exactly, whatever characters they contain; see
 * {@link StorageKey}.</li>
 * </ul>
 * Methods added to this interface in later versions have default implementations.
 *
 * @since 0.1
 */
public interface LockStore extends AutoCloseable {

	/**
	 * Take a key if it is free, its lease is over, or this owner holds it. If the command
	 * says so, first release the lock of another owner of this process, as
	 * {@link #release} does, in the same step: the lock then goes to the first process of
	 * the queue, if there is one, and otherwise to this owner. The other owner holds
	 * nothing afterwards, whatever the answer.
	 * @param command the key, its owner and the lease
	 * @return granted or refused
	 * @throws StoreException if there is no answer
	 */
	AcquireResult acquire(AcquireCommand command);

	/**
	 * Start the lease of each of these locks anew, in as few round trips as the store
	 * allows. Never shortens a lease.
	 * @param leases the leases
	 * @return one result for each lease, in the same order; a failure of the store is
	 * {@link RenewResult#UNKNOWN}, not an exception
	 */
	List<RenewResult> renew(List<RenewCommand> leases);

	/**
	 * Free a key if this owner holds it, or reserve it for the first process of the queue
	 * and notify that process.
	 * @param key the key
	 * @param owner the owner
	 * @return whether it was held and is free now; {@code false} says that this owner
	 * does not hold it, which an earlier call may have caused
	 * @throws StoreException if there is no answer
	 */
	boolean release(String key, String owner);

	/**
	 * Free a key as {@link #release(String, String)} does, and report when the request is
	 * on its way.
	 * @param key the key
	 * @param owner the owner
	 * @param onSent called as soon as everything that this store is asked afterwards
	 * takes effect after the release, perhaps more than once; never called by a store
	 * that cannot tell
	 * @return whether it was held and is free now
	 * @throws StoreException if there is no answer
	 */
	default boolean release(String key, String owner, Runnable onSent) {
		return release(key, owner);
	}

	/**
	 * Send a {@link #release} and return without waiting for the answer, if this store
	 * can do that on the calling thread. Later commands to this store take effect later.
	 * @param key the key
	 * @param owner the owner
	 * @param onFailure takes the failure if there is no answer; does not block
	 * @return {@code false} if this store cannot do that, and has done nothing
	 * @throws StoreException if it could not be sent
	 */
	default boolean releaseAsync(String key, String owner, Consumer<StoreException> onFailure) {
		return false;
	}

	/**
	 * Keep a lock that its holder has released, until it ends by itself. Until then the
	 * lock is shown as {@linkplain StoredLock#kept kept} and not as held, a refusal names
	 * no holder, and its owner neither renews nor releases it. Its {@linkplain #keptOwner
	 * new owner} can {@linkplain #release release} it.
	 * @param key the key
	 * @param owner the owner
	 * @param rest the time from now until which to keep it; may shorten the lease
	 * @return whether it is kept; {@code false} if this owner does not hold it, which an
	 * earlier call may have caused, or this store cannot: the lock is then renewed and
	 * released later
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
	 * Leave the queue of a key. A lock that is reserved for this process goes to the next
	 * process of the queue.
	 * @param storageKey the {@linkplain StorageKey storage key}
	 * @param mailbox the address given with the acquire
	 * @throws StoreException if there is no answer
	 */
	default void leave(String storageKey, MailboxAddress mailbox) {
	}

	/**
	 * Listen at an address. Called once by a process, when it waits for the first time.
	 * @param address the address
	 * @param onLockAvailable takes the {@linkplain StorageKey storage key} of a lock that
	 * is reserved for this process; does not block
	 * @return the mailbox, or {@code null} if this store sends no messages
	 * @throws StoreException if it cannot be opened now
	 */
	default @Nullable Mailbox openMailbox(MailboxAddress address, Consumer<String> onLockAvailable) {
		return null;
	}

	/**
	 * Look up the holder of a key. A lock that is reserved for a waiting process is free.
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
	 * @param owner the identity of this attempt, 128 random bits
	 * @param lease how long to hold it
	 * @param holder the holder, for people
	 * @param reason the reason, for people; empty if there is none
	 * @param mailbox the address of this process, for which the key may be reserved, or
	 * {@code null} if the process never waited
	 * @param queueing whether to join the queue with that address after a refusal
	 * @param releasing another owner of this process that releases the key in the same
	 * step, or {@code null}
	 */
	record AcquireCommand(String key, String owner, Duration lease, String holder, String reason,
			@Nullable MailboxAddress mailbox, boolean queueing, @Nullable String releasing) {

		public AcquireCommand {
			if (queueing && mailbox == null) {
				throw new IllegalArgumentException("A command that joins the queue needs a mailbox");
			}
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
	 * @param lease the time from now until which to hold it
	 */
	record RenewCommand(String key, String owner, Duration lease) {

	}

}
