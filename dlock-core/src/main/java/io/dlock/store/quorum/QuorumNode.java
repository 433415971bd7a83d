package io.dlock.store.quorum;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

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

	private final LockStore store;

	private final Executor threads;

	private final Executor renewals;

	private final QuorumSettings settings;

	private final LongAdder calls = new LongAdder();

	private final LongAdder failures = new LongAdder();

	private volatile boolean answering = true;

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
		return ask(command, this.threads);
	}

	/**
	 * Ask the store on this thread if its own take no more commands.
	 */
	<T> CompletableFuture<T> askAnyway(Function<LockStore, T> command) {
		return ask(command, (task) -> {
			try {
				this.threads.execute(task);
			}
			catch (RejectedExecutionException ex) {
				task.run();
			}
		});
	}

	CompletableFuture<List<RenewResult>> renew(List<RenewCommand> leases) {
		return ask((store) -> store.renew(leases), this.renewals);
	}

	private <T> CompletableFuture<T> ask(Function<LockStore, T> command, Executor executor) {
		long asked = System.nanoTime();
		try {
			return CompletableFuture.supplyAsync(() -> run(command, asked), executor);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			// or no thread can be started
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
				this.answered = System.nanoTime();
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
			return new Refused(ex.remaining(), null);
		}
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

}
