package io.dlock.store.quorum;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * The commands of a {@link Ballot} to one node. Each waits for the answer to the one
 * before it, without a thread: a release cannot overtake a late acquire.
 */
final class Vote {

	private final QuorumNode node;

	private final String key;

	private final String owner;

	/** The vote that is given up before, if the node may still have it. */
	private volatile @Nullable Vote former;

	private final CompletableFuture<?> formerRelease;

	/** The node may have voted. */
	private volatile boolean sent;

	private volatile boolean givenUp;

	/** The last release. */
	private volatile @Nullable CompletableFuture<Boolean> release;

	private final ReentrantLock appending = new ReentrantLock();

	/** Guarded by {@code appending}. */
	private CompletableFuture<?> last;

	/**
	 * Create a vote.
	 * @param owner the owner that the node knows
	 * @param former the vote of this node that is given up before, or {@code null}
	 */
	Vote(QuorumNode node, String key, String owner, @Nullable Vote former) {
		this.node = node;
		this.key = key;
		this.owner = owner;
		Vote asked = (former != null && !former.sent) ? former.former : former;
		this.former = asked;
		this.formerRelease = (asked != null) ? asked.releaseAgain() : CompletableFuture.completedFuture(null);
		this.last = this.formerRelease;
	}

	/**
	 * Ask for the vote, unless it has been given up by then: commands may wait for a node
	 * that hangs. A node that may still have the former vote would refuse this one, as if
	 * another owner held the key.
	 */
	CompletableFuture<AcquireResult> acquire(AcquireCommand command, long leastToken) {
		return then(() -> {
			if (isFormerKept()) {
				return CompletableFuture.failedFuture(new StoreException(Effect.NONE, false,
						"The vote for an earlier attempt is not released yet", null));
			}
			boolean before = this.sent;
			this.sent = true;
			this.former = null;
			CompletableFuture<AcquireResult> answer = this.givenUp ? null : this.node.sendVote(command, leastToken);
			if (answer != null) {
				return answer;
			}
			this.sent = before;
			return this.node.ask((store) -> this.node.vote(command, leastToken), () -> !mayBeSent(before));
		});
	}

	/**
	 * Whether the vote has not been given up. The vote that follows gives up this one
	 * before it reads whether it was sent.
	 */
	private boolean mayBeSent(boolean before) {
		this.sent = true;
		boolean givenUp = this.givenUp;
		this.sent = before || !givenUp;
		return !givenUp;
	}

	/**
	 * Whether the node may still have the former vote.
	 */
	boolean isFormerKept() {
		return this.formerRelease.isCompletedExceptionally();
	}

	/**
	 * Whether the former vote is not known to be released.
	 */
	boolean hasFormer() {
		return this.former != null;
	}

	CompletableFuture<Boolean> raise(long token) {
		return then(() -> this.node.ask((store) -> this.node.raise(this.key, this.owner, token)));
	}

	/**
	 * Release the vote, also if its answer has not come yet, and do not wait.
	 */
	void revoke() {
		var unused = release();
	}

	CompletableFuture<Boolean> release() {
		this.givenUp = true;
		CompletableFuture<Boolean> sending = then(() -> {
			Vote kept = this.former;
			if (!this.sent) {
				return (kept != null) ? kept.releaseAgain() : CompletableFuture.completedFuture(false);
			}
			CompletableFuture<Boolean> answer = this.node.sendRelease(this.key, this.owner);
			return (answer != null) ? answer : this.node.askAnyway((store) -> store.release(this.key, this.owner));
		});
		this.release = sending;
		return sending;
	}

	/**
	 * Release the vote, unless that is done or under way.
	 */
	private CompletableFuture<Boolean> releaseAgain() {
		CompletableFuture<Boolean> current = this.release;
		return (current == null || current.isCompletedExceptionally()) ? release() : current;
	}

	/**
	 * Give a vote that this node lacks to the holder, with its token.
	 * @param held whether the owner still holds the key
	 */
	void fillUp(AcquireCommand command, long token, BooleanSupplier held) {
		this.sent = true;
		var unused = then(() -> this.node
			.ask((store) -> held.getAsBoolean() && this.node.vote(command, token) instanceof Granted granted
					&& (granted.token() >= token || this.node.raise(this.key, this.owner, token))));
	}

	/**
	 * Ask the node after the answer to the last command.
	 */
	private <T> CompletableFuture<T> then(Supplier<CompletableFuture<T>> command) {
		this.appending.lock();
		try {
			CompletableFuture<?> before = this.last;
			CompletableFuture<T> next = this.node.underWay(() -> before.isDone() ? command.get()
					: before.handle((ignored, failure) -> null).thenCompose((ignored) -> command.get()));
			this.last = next;
			return next;
		}
		finally {
			this.appending.unlock();
		}
	}

}
