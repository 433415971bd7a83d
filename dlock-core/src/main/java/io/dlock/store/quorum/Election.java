package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.StoredLock;

/**
 * One attempt to win a key: the votes are asked for, the token is raised on a majority,
 * and what is left of the lease is checked. An attempt that is lost is revoked on every
 * node.
 */
final class Election {

	/** The part of a command timeout for which split votes wait for the other nodes. */
	private static final int SPLIT_DIVISOR = 16;

	private final Quorum quorum;

	private final Ballot ballot;

	private final AcquireCommand command;

	private final long begin;

	private final long proposed;

	private final long deadline;

	private boolean revoked;

	private boolean leavesVotes;

	private CompletableFuture<?> revocation = CompletableFuture.completedFuture(null);

	/**
	 * Create an attempt, which begins now.
	 * @param quorum the nodes
	 * @param command the command of the engine
	 * @param deadline the {@link System#nanoTime()} until which it waits for the nodes
	 */
	Election(Quorum quorum, Ballot ballot, AcquireCommand command, long deadline) {
		this.quorum = quorum;
		this.ballot = ballot;
		this.command = command;
		this.deadline = deadline;
		this.begin = quorum.now();
		this.proposed = quorum.tokens().propose();
	}

	/**
	 * Hold the election.
	 * @param releasing the ballot that is given up in the same step, or {@code null}
	 * @return the answer, or {@code null} if no candidate has won and another attempt may
	 * @throws StoreException if too few nodes answer
	 */
	@Nullable AcquireResult hold(@Nullable Ballot releasing) {
		AcquireCommand nodeCommand = this.ballot.nodeCommand(this.command.lease(), releasing);
		List<CompletableFuture<AcquireResult>> answers = this.ballot.acquire(nodeCommand, this.proposed);
		if (releasing != null) {
			giveUp(releasing, answers);
		}
		Round<AcquireResult> round = new Round<>(answers, this.quorum.deciding())
			.await((votes) -> isDecided(votes) || isSplit(votes), remainingNanos());
		round.await(this::isDecided, Math.min(remainingNanos(), this.quorum.timeoutNanos() / SPLIT_DIVISOR));
		if (granted(round) >= this.quorum.votes()) {
			long token = settle(round);
			if (token > 0 && isValid()) {
				this.ballot.won(token, end());
				return new Granted(token);
			}
		}
		revoke(round);
		return lost(round);
	}

	private long remainingNanos() {
		return this.deadline - System.nanoTime();
	}

	private boolean isDecided(Round<AcquireResult> round) {
		List<Refused> refusals = refusals(round);
		List<StoredLock> locks = locks(refusals);
		int silent = refusals.size() - locks.size();
		return granted(round) >= this.quorum.votes() || this.quorum.holder(locks, 0) != null
				|| this.quorum.nodes().size() - silent < this.quorum.votes();
	}

	/**
	 * Whether so many nodes have voted for several candidates of this moment that none of
	 * them can count on the others: one that hangs would keep all of them waiting.
	 */
	private boolean isSplit(Round<AcquireResult> round) {
		List<StoredLock> locks = locks(refusals(round));
		return granted(round) + locks.size() >= this.quorum.votes() && isUndecided(locks);
	}

	private static int granted(Round<AcquireResult> round) {
		return round.count(Granted.class::isInstance);
	}

	private static List<Refused> refusals(Round<AcquireResult> round) {
		return round.values().stream().filter(Refused.class::isInstance).map(Refused.class::cast).toList();
	}

	/**
	 * A node that granted the acquire has released the other ballot in the same step. One
	 * that refused it may be in quarantine, where it does neither.
	 */
	private static void giveUp(Ballot releasing, List<CompletableFuture<AcquireResult>> answers) {
		releasing.close();
		for (int i = 0; i < answers.size(); i++) {
			Vote vote = releasing.votes().get(i);
			var unused = answers.get(i).whenComplete((answer, failure) -> {
				if (!(answer instanceof Granted)) {
					vote.revoke();
				}
			});
		}
	}

	/**
	 * Find the token of this lock, and have it known to a majority. The next majority
	 * shares a node with this one, which grants with a larger token. The largest of the
	 * next grants is therefore larger than this token. A repeated acquire has the token
	 * of the first.
	 * @return the token, or 0 if no majority knows it
	 */
	private long settle(Round<AcquireResult> round) {
		if (this.ballot.isHeld()) {
			return raise(round, this.ballot.token()) ? this.ballot.token() : 0;
		}
		// with the proposed token all votes are alike
		Map<Long, Integer> counts = new HashMap<>();
		long largest = 0;
		for (AcquireResult vote : round.values()) {
			if (vote instanceof Granted granted) {
				largest = Math.max(largest, granted.token());
				if (counts.merge(granted.token(), 1, Integer::sum) >= this.quorum.votes()) {
					return granted.token();
				}
			}
		}
		this.quorum.tokens().learn(this.proposed, largest);
		return raise(round, largest) ? largest : 0;
	}

	private boolean raise(Round<AcquireResult> round, long token) {
		List<CompletableFuture<Boolean>> raised = new ArrayList<>();
		for (Round.Answer<AcquireResult> vote : round.answers()) {
			if (vote.value() instanceof Granted granted) {
				raised.add((granted.token() >= token) ? CompletableFuture.completedFuture(true)
						: this.ballot.votes().get(vote.node()).raise(token));
			}
		}
		int needed = this.quorum.votes();
		return new Round<>(raised, Math.min(needed, raised.size() - needed + 1)).await((known) -> {
			int count = known.count((done) -> done);
			return count >= needed || count + known.pending() < needed;
		}, remainingNanos()).count((done) -> done) >= needed;
	}

	/**
	 * Whether anything is left of the lease, which the nodes count from the time of their
	 * answer at the earliest: clocks that run at different rates are deducted.
	 */
	private boolean isValid() {
		return end() - this.quorum.now() > 0;
	}

	private long end() {
		return this.begin + this.quorum.reliableNanos(this.command.lease());
	}

	/**
	 * Release the votes, also those whose answers are unknown. Only the votes that are
	 * known are awaited: they would be in the way of the next attempt.
	 */
	private void revoke(Round<AcquireResult> round) {
		this.ballot.close();
		List<CompletableFuture<Boolean>> awaited = new ArrayList<>();
		List<CompletableFuture<Boolean>> sent = new ArrayList<>();
		for (int i = 0; i < this.ballot.votes().size(); i++) {
			Round.Answer<AcquireResult> answer = round.answer(i);
			AcquireResult vote = (answer != null) ? answer.value() : null;
			boolean unsent = answer != null && Quorum.hadNoEffect(answer.failure())
					&& !this.ballot.votes().get(i).isFormerKept();
			if (!(vote instanceof Refused) && !unsent) {
				CompletableFuture<Boolean> release = this.ballot.votes().get(i).release();
				sent.add(release);
				if (vote instanceof Granted) {
					awaited.add(release);
				}
			}
		}
		this.revocation = CompletableFuture.allOf(sent.toArray(CompletableFuture<?>[]::new));
		Round<Boolean> released = new Round<>(awaited, awaited.size()).await((answers) -> false, remainingNanos());
		this.revoked = round.unknown() == 0 && released.unknown() == 0;
		this.leavesVotes = released.unknown() > 0 || this.ballot.votes().stream().anyMatch(Vote::hasFormer);
	}

	/**
	 * Whether nodes have votes of this attempt, or may have some of an earlier one, that
	 * are not released. Those of nodes without an answer are not counted.
	 */
	boolean leavesVotes() {
		return this.leavesVotes;
	}

	/**
	 * The end of the revocation of an attempt that is lost.
	 * @return completes when all nodes that may have voted have released their votes, and
	 * exceptionally if one of them does not answer
	 */
	CompletableFuture<?> revocation() {
		return this.revocation;
	}

	private @Nullable AcquireResult lost(Round<AcquireResult> round) {
		List<Refused> refusals = refusals(round);
		int granted = granted(round);
		if (granted >= this.quorum.votes()) {
			if (!isValid()) {
				throw new StoreCongestedException(effect(), "The votes came so late that nothing is left of the lease",
						null);
			}
			throw new StoreException(effect(), false,
					"%d of %d lock nodes granted the lock, but too few confirmed its token".formatted(granted,
							this.ballot.votes().size()),
					null);
		}
		List<StoredLock> locks = locks(refusals);
		requireVotes(round, refusals, granted + locks.size());
		StoredLock holder = this.quorum.holder(locks, 0);
		if (holder == null && isUndecided(locks)) {
			return null;
		}
		return new Refused(remaining(refusals, granted),
				(holder != null) ? holder : this.quorum.holder(locks, round.unknown()));
	}

	/**
	 * A node that does not vote refuses without a lock. If nodes without an answer may
	 * vote, the failure is theirs, and they may be back before a quarantine is over.
	 */
	private void requireVotes(Round<AcquireResult> round, List<Refused> refusals, int voting) {
		int missing = this.quorum.votes() - voting - round.unknown();
		if (missing > 0) {
			throw new StoreQuarantinedException(refusals.stream()
				.filter((refused) -> refused.lock() == null)
				.map(Refused::remaining)
				.sorted()
				.skip(missing - 1L)
				.findFirst()
				.orElseThrow());
		}
		if (voting < this.quorum.votes()) {
			throw noMajority(round, voting);
		}
	}

	private static List<StoredLock> locks(List<Refused> refusals) {
		List<StoredLock> locks = new ArrayList<>(refusals.size());
		for (Refused refused : refusals) {
			if (refused.lock() != null) {
				locks.add(refused.lock());
			}
		}
		return locks;
	}

	/**
	 * Whether the votes are split among candidates of this moment. Votes that are older
	 * belong to attempts that ended without a release.
	 */
	private boolean isUndecided(List<StoredLock> locks) {
		return locks.stream().anyMatch((lock) -> lock.age().toNanos() < 2 * this.quorum.timeoutNanos());
	}

	/**
	 * When so many leases are over that a majority is free.
	 */
	private Duration remaining(List<Refused> refusals, int granted) {
		List<Duration> ends = refusals.stream().map(Refused::remaining).sorted(Comparator.naturalOrder()).toList();
		int missing = Math.max(1, this.quorum.votes() - granted);
		return ends.get(Math.min(missing, ends.size()) - 1);
	}

	private StoreException noMajority(Round<AcquireResult> round, int voting) {
		Throwable cause = this.quorum.failure(round);
		if (cause instanceof IllegalArgumentException refusal) {
			throw refusal;
		}
		String message = "Only " + voting + " of " + this.ballot.votes().size() + " lock nodes voted, and "
				+ this.quorum.votes() + " are needed" + ((cause != null) ? " (" + cause.getMessage() + ")" : "");
		long congested = round.answers()
			.stream()
			.filter((answer) -> answer.failure() instanceof StoreCongestedException)
			.count();
		return (voting + congested >= this.quorum.votes()) ? new StoreCongestedException(effect(), message, cause)
				: new StoreException(effect(), Quorum.isPermanent(cause), message, cause);
	}

	private Effect effect() {
		return this.revoked ? Effect.NONE : Effect.UNKNOWN;
	}

}
