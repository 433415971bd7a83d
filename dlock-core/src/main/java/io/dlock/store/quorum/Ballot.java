package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;

/**
 * One attempt of an owner to win a key. The nodes know it by an owner of its own: a
 * command of an earlier attempt, however late, neither adds a vote to this one nor takes
 * one away.
 */
final class Ballot {

	private final AcquireCommand command;

	private final String owner;

	private final List<Vote> votes = new ArrayList<>();

	private volatile long token;

	/** The end of the lease by the clock of this process. */
	private volatile long end;

	private volatile boolean won;

	private volatile boolean lost;

	private volatile boolean released;

	/**
	 * Create a ballot.
	 * @param number the number of the attempt
	 * @param former the ballot of the owner that is given up before, or {@code null}
	 */
	Ballot(AcquireCommand command, long number, List<QuorumNode> nodes, @Nullable Ballot former) {
		this.command = command;
		this.owner = command.owner() + '.' + Long.toString(number, Character.MAX_RADIX);
		for (int i = 0; i < nodes.size(); i++) {
			Vote before = (former != null) ? former.votes.get(i) : null;
			this.votes.add(new Vote(nodes.get(i), command.key(), this.owner, before));
		}
	}

	String owner() {
		return this.owner;
	}

	List<Vote> votes() {
		return this.votes;
	}

	long token() {
		return this.token;
	}

	/**
	 * Whether its owner holds the key. A ballot that is released is never used again: the
	 * release may be late.
	 */
	boolean isHeld() {
		return this.won && !this.released;
	}

	/**
	 * Whether it can be forgotten.
	 */
	boolean isOutdated(long now) {
		return (this.won || this.lost) && isOver(now);
	}

	void won(long token, long end) {
		this.token = token;
		this.end = end;
		this.won = true;
	}

	/**
	 * Note that this ballot is lost, and not yet released on all nodes.
	 * @param end the end of the last vote that it may have
	 */
	void lost(long end) {
		this.end = end;
		this.lost = true;
	}

	void renewed(long end) {
		this.end = Math.max(this.end, end);
	}

	boolean isOver(long now) {
		return now - this.end >= 0;
	}

	/**
	 * The command that a node gets.
	 * @param releasing the ballot that is released in the same step, or {@code null}
	 */
	AcquireCommand nodeCommand(Duration lease, @Nullable Ballot releasing) {
		return new AcquireCommand(this.command.key(), this.owner, lease, this.command.holder(), this.command.reason(),
				null, false, (releasing != null) ? releasing.owner() : null);
	}

	List<CompletableFuture<AcquireResult>> acquire(AcquireCommand nodeCommand, long leastToken) {
		return ask((vote) -> vote.acquire(nodeCommand, leastToken));
	}

	/**
	 * Never use this ballot again.
	 */
	void close() {
		this.released = true;
	}

	List<CompletableFuture<Boolean>> release() {
		close();
		return ask(Vote::release);
	}

	private <T> List<CompletableFuture<T>> ask(Function<Vote, CompletableFuture<T>> command) {
		List<CompletableFuture<T>> answers = new ArrayList<>(this.votes.size());
		this.votes.forEach((vote) -> answers.add(command.apply(vote)));
		return answers;
	}

}
