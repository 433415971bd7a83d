package io.dlock.store.quorum;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.RaisedTokens;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoredLock;

/**
 * A store that votes, with the threads that ask it. A store that hangs keeps its own
 * threads waiting and no others.
 * <p>
 * A node that has lost its data must not vote until every lease that it may have
 * forgotten is over. The marker is a lock that is never released: its age is at most the
 * time since the node lost its data. It is read after each grant, so that a grant and the
 * marker that it relies on are of the same data.
 */
final class QuorumNode {

	private static final Log logger = LogFactory.getLog(QuorumNode.class);

	/** The key of the lock whose age is that of the data. */
	static final String MARKER = "dlock/quorum/node";

	private static final String MARKER_OWNER = "marker";

	private static final Duration MARKER_LEASE = Duration.ofDays(3650);

	private final LockStore store;

	private final Executor threads;

	private final QuorumSettings settings;

	private final LongAdder calls = new LongAdder();

	private final LongAdder failures = new LongAdder();

	private volatile boolean answering = true;

	private volatile boolean voting = true;

	QuorumNode(LockStore store, Executor threads, QuorumSettings settings) {
		this.store = store;
		this.threads = threads;
		this.settings = settings;
	}

	LockStore store() {
		return this.store;
	}

	QuorumNodeStatus status() {
		return new QuorumNodeStatus(this.store.describe(), this.answering, this.voting, this.calls.sum(),
				this.failures.sum());
	}

	/**
	 * Ask the store on one of its threads.
	 * @param command the command
	 * @return the answer to come; a {@link StoreException} if there is none
	 */
	<T> CompletableFuture<T> ask(Function<LockStore, T> command) {
		long asked = System.nanoTime();
		try {
			return CompletableFuture.supplyAsync(() -> run(command, asked), this.threads);
		}
		catch (RejectedExecutionException ex) {
			return CompletableFuture.failedFuture(notSent(ex));
		}
	}

	/**
	 * Ask the store on this thread, unless the command has waited too long for it.
	 */
	private <T> T run(Function<LockStore, T> command, long asked) {
		if (System.nanoTime() - asked > this.settings.commandTimeout().toNanos()) {
			throw notSent(null);
		}
		this.calls.increment();
		try {
			T answer = command.apply(this.store);
			if (answer instanceof List<?> renewals && renewals.contains(RenewResult.UNKNOWN)) {
				failed();
			}
			else if (!Boolean.FALSE.equals(answer)) {
				// a store without anything to sweep says so without its server
				this.answering = true;
			}
			return answer;
		}
		catch (RuntimeException ex) {
			failed();
			throw ex;
		}
	}

	private void failed() {
		this.failures.increment();
		this.answering = false;
	}

	private StoreException notSent(@Nullable Throwable cause) {
		return new StoreException(Effect.NONE, false,
				"Node " + this.store.describe() + " is too slow: the command was not sent", cause);
	}

	/**
	 * Vote for an owner.
	 * @param command the command
	 * @return granted, or refused without a lock if this node does not vote now
	 */
	AcquireResult vote(AcquireCommand command) {
		AcquireResult answer = this.store.acquire(command);
		if (!(answer instanceof Granted)) {
			return answer;
		}
		Duration silence = silence();
		if (silence.isZero()) {
			return answer;
		}
		this.store.release(command.key(), command.owner());
		return new Refused(silence, null);
	}

	/**
	 * How long this node does not vote yet.
	 * @return zero if it does vote
	 */
	Duration silence() {
		Duration longest = this.settings.longestLease();
		if (longest.isZero()) {
			return Duration.ZERO;
		}
		Duration age = this.store.find(MARKER).map(StoredLock::age).orElseGet(this::mark);
		Duration rest = longest.minus(age);
		boolean votes = rest.isNegative() || rest.isZero();
		if (votes != this.voting) {
			this.voting = votes;
			logger.warn("Lock node " + this.store.describe() + (votes ? " votes again"
					: " has no memory of earlier locks: it does not vote for " + rest.toMillis() + " ms"));
		}
		return votes ? Duration.ZERO : rest;
	}

	private Duration mark() {
		this.store.acquire(new AcquireCommand(MARKER, MARKER_OWNER, MARKER_LEASE, "quorum",
				"the age of this lock is that of the data of this node"));
		return Duration.ZERO;
	}

	/**
	 * Raise the token of a lock of this node.
	 */
	boolean raise(String key, String owner, long token) {
		return ((RaisedTokens) this.store).raiseToken(key, owner, token);
	}

}
