package io.dlock.store;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * A store that can be a node of a quorum: its tokens can be raised, and its server can be
 * identified. Each node mints tokens of its own, and every later token of the quorum must
 * be larger than the largest. The nodes must be different servers. Their owners are up to
 * 14 characters longer than those of the engine.
 *
 * @since 0.1
 */
public interface QuorumCapable {

	/**
	 * Acquire a key for an exclusive owner with at least a token. A token that is more
	 * than 10 ms ahead of the store's clock counts as one that is 10 ms ahead. A repeated
	 * grant has the token of the first one.
	 * @param command the command
	 * @param leastToken the token, in microseconds since 1970, or 0 for none
	 * @return the answer, as from {@link LockStore#acquire}
	 * @throws StoreException if there is no answer
	 */
	AcquireResult acquire(LockStore.AcquireCommand command, long leastToken);

	/**
	 * Send an {@link #acquire} and return without waiting for the answer, if this store
	 * can do that on the calling thread.
	 * @param command the command
	 * @param leastToken the token, in microseconds since 1970, or 0 for none
	 * @return completes with the answer or a {@link StoreException}, on a thread that
	 * must not be blocked; {@code null} if this store cannot do that now and has done
	 * nothing
	 * @throws StoreException if the command could not be sent
	 */
	default @Nullable CompletableFuture<AcquireResult> sendAcquire(LockStore.AcquireCommand command, long leastToken) {
		return null;
	}

	/**
	 * Send a {@linkplain LockStore#release(String, String) release} and return without
	 * waiting for the answer, if this store can do that on the calling thread.
	 * @param key the key
	 * @param owner the owner
	 * @return completes with the answer or a {@link StoreException}, on a thread that
	 * must not be blocked; {@code null} if this store cannot do that now and has done
	 * nothing
	 * @throws StoreException if the command could not be sent
	 */
	default @Nullable CompletableFuture<Boolean> sendRelease(String key, String owner) {
		return null;
	}

	/**
	 * Raise the token of a lock, and with it the last token of its key, if this exclusive
	 * owner holds the key. Never lowers a token. Idempotent.
	 * @param key the key
	 * @param owner the owner
	 * @param token the least token that the lock has afterwards
	 * @return whether this owner holds the key, and the next owner gets a larger token
	 * @throws StoreException if there is no answer
	 */
	boolean raiseToken(String key, String owner, long token);

	/**
	 * Identify the server that runs at present. Two stores with the same identity are one
	 * server.
	 * @return the identity, which a restart may change
	 * @throws StoreException if there is no answer
	 * @throws StoreMisconfiguredException if the server does not reveal its identity
	 */
	String serverId();

}
