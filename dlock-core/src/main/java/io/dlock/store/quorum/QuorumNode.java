package io.dlock.store.quorum;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.QuorumCapable;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreQuarantinedException;

/**
 * A store that votes, with the threads that ask it. A store that hangs keeps its own
 * threads waiting and no others.
 */
final class QuorumNode {

	/**
	 * The votes that a store is asked for without a thread. A server that hangs executes
	 * them all when it goes on, when their attempts are over.
	 */
	private static final int SENT_AT_ONCE = 128;

	private static final long CLOSE_POLL_NANOS = Duration.ofMillis(1).toNanos();

	private final LockStore store;

	private final Executor threads;

	private final Executor renewals;

	private final QuorumSettings settings;

	private final LongAdder calls = new LongAdder();

	private final LongAdder failures = new LongAdder();

	/** The commands that are not yet answered, also those that wait for others. */
	private final AtomicInteger underWay = new AtomicInteger();

	/** The votes that were sent without a thread and are not yet answered. */
	private final AtomicInteger sentVotes = new AtomicInteger();

	private volatile boolean answering = true;

	private volatile boolean closing;

	/** The store has sent a command without a thread. */
	private volatile boolean sends;

	/** When it answered last. */
	private volatile long answered = System.nanoTime();

	QuorumNode(LockStore store, Executor threads, QuorumSettings settings) {
		this.store = store;
		this.threads = threads;
		this.renewals = (threads instanceof NodeThreads node) ? node.renewals() : threads;
		this.settings = settings;
	}

	LockStore store() {
		return this.store;
	}

	QuorumNodeStatus status() {
		return new QuorumNodeStatus(this.store.describe(), this.answering, silence().isZero(), this.calls.sum(),
				this.failures.sum());
	}

	/**
	 * Ask the store on one of its threads.
	 * @return the answer to come; a {@link StoreException} if there is none
	 */
	<T> CompletableFuture<T> ask(Function<LockStore, T> command) {
		return ask(command, () -> false);
	}

	/**
	 * Ask the store on one of its threads, unless that is of no use by then.
	 * @param obsolete whether the command is of no use any more
	 */
	<T> CompletableFuture<T> ask(Function<LockStore, T> command, BooleanSupplier obsolete) {
		return ask(command, obsolete, this.threads);
	}

	/**
	 * Ask the store on this thread if its own take no more commands. A thread that brings
	 * answers of the store must not wait for one.
	 */
	<T> CompletableFuture<T> askAnyway(Function<LockStore, T> command) {
		return ask(command, () -> false, (task) -> {
			try {
				this.threads.execute(task);
			}
			catch (RejectedExecutionException ex) {
				if (this.sends) {
					throw ex;
				}
				task.run();
			}
		});
	}

	/**
	 * Ask for the vote for an owner without a thread that waits for the answer.
	 * @param leastToken the token that all votes should have, or 0
	 * @return completes as {@link #vote} answers; {@code null} if the store cannot do
	 * that now
	 */
	@Nullable CompletableFuture<AcquireResult> sendVote(AcquireCommand command, long leastToken) {
		if (!this.answering || this.closing || this.sentVotes.get() >= SENT_AT_ONCE) {
			return null;
		}
		CompletableFuture<AcquireResult> sent = send((store) -> {
			CompletableFuture<AcquireResult> answer = store.sendAcquire(command, leastToken);
			return (answer != null) ? answer.exceptionally(QuorumNode::refusal) : null;
		});
		if (sent == null) {
			return null;
		}
		this.sentVotes.incrementAndGet();
		return sent.whenComplete((answer, failure) -> this.sentVotes.decrementAndGet());
	}

	/**
	 * Release a vote without a thread that waits for the answer.
	 * @return completes with the answer; {@code null} if the store cannot do that now
	 */
	@Nullable CompletableFuture<Boolean> sendRelease(String key, String owner) {
		return send((store) -> store.sendRelease(key, owner));
	}

	private <T> @Nullable CompletableFuture<T> send(Function<QuorumCapable, @Nullable CompletableFuture<T>> command) {
		CompletableFuture<T> sent = command.apply((QuorumCapable) this.store);
		if (sent == null) {
			return null;
		}
		this.sends = true;
		this.calls.increment();
		return sent.whenComplete((answer, failure) -> {
			if (failure != null) {
				failed();
			}
			else {
				answered();
			}
		});
	}

	/**
	 * A command is under way until it is answered, also while it waits for another.
	 * @param command sends it
	 * @return completes with its answer, or with what the command throws
	 */
	<T> CompletableFuture<T> underWay(Supplier<CompletableFuture<T>> command) {
		this.underWay.incrementAndGet();
		CompletableFuture<T> answer;
		try {
			answer = command.get();
		}
		catch (Throwable ex) {
			// the other nodes are asked all the same
			answer = CompletableFuture.failedFuture(ex);
		}
		return answer.whenComplete((value, failure) -> this.underWay.decrementAndGet());
	}

	CompletableFuture<List<RenewResult>> renew(List<RenewCommand> leases) {
		return ask((store) -> store.renew(leases), () -> false, this.renewals);
	}

	private <T> CompletableFuture<T> ask(Function<LockStore, T> command, BooleanSupplier obsolete, Executor executor) {
		long asked = System.nanoTime();
		try {
			return CompletableFuture.supplyAsync(() -> run(command, obsolete, asked), executor);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			// or no thread can be started
			return CompletableFuture.failedFuture(notSent(ex));
		}
	}

	/**
	 * Ask the store on this thread, unless the command has waited too long for it.
	 */
	private <T> T run(Function<LockStore, T> command, BooleanSupplier obsolete, long asked) {
		if (obsolete.getAsBoolean()) {
			throw new StoreException(Effect.NONE, false, "The command was given up before it was sent", null);
		}
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
				answered();
			}
			return answer;
		}
		catch (RuntimeException ex) {
			failed();
			throw ex;
		}
	}

	private void answered() {
		this.answering = true;
		this.answered = System.nanoTime();
	}

	private void failed() {
		this.failures.increment();
		this.answering = false;
	}

	/**
	 * A node that answers other commands does not fail: this process asks for too much at
	 * once.
	 */
	private StoreException notSent(@Nullable Throwable cause) {
		String message = "Node " + this.store.describe() + " is too slow: the command was not sent";
		return (System.nanoTime() - this.answered < this.settings.commandTimeout().toNanos())
				? new StoreCongestedException(message, cause) : new StoreException(Effect.NONE, false, message, cause);
	}

	/**
	 * Vote for an owner.
	 * @param leastToken the token that all votes should have, or 0
	 * @return granted, or refused without a lock if this node does not vote now
	 */
	AcquireResult vote(AcquireCommand command, long leastToken) {
		try {
			return ((QuorumCapable) this.store).acquire(command, leastToken);
		}
		catch (StoreQuarantinedException ex) {
			return refusal(ex);
		}
	}

	private static AcquireResult refusal(Throwable failure) {
		if (Round.unwrapped(failure) instanceof StoreQuarantinedException ex) {
			return new Refused(ex.remaining(), null);
		}
		throw (failure instanceof CompletionException ex) ? ex : new CompletionException(failure);
	}

	/**
	 * How long this node does not vote, because it may have forgotten votes.
	 * @return zero if it does vote
	 */
	Duration silence() {
		return this.store.quarantine().orElse(Duration.ZERO);
	}

	/**
	 * Raise the token of a lock of this node.
	 */
	boolean raise(String key, String owner, long token) {
		return ((QuorumCapable) this.store).raiseToken(key, owner, token);
	}

	/**
	 * Ask for no more votes: no release would follow.
	 */
	void close() {
		this.closing = true;
	}

	/**
	 * Wait for the commands that are under way.
	 * @param nanos the longest wait
	 */
	void await(long nanos) {
		long begin = System.nanoTime();
		while (this.underWay.get() > 0 && System.nanoTime() - begin < nanos
				&& !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(this, CLOSE_POLL_NANOS);
		}
	}

}
