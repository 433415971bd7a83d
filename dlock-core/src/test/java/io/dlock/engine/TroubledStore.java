package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.ReleaseResult;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.memory.MemoryLockStore;

/**
 * A real store whose answers get lost, come late or are wrong on demand, as on a bad
 * network.
 */
final class TroubledStore implements LockStore {

	final MemoryLockStore memory;

	final AtomicInteger acquires = new AtomicInteger();

	final AtomicInteger renewals = new AtomicInteger();

	final AtomicInteger releases = new AtomicInteger();

	final AtomicInteger releasesSent = new AtomicInteger();

	final AtomicInteger leaves = new AtomicInteger();

	final AtomicInteger lostAcquireReplies = new AtomicInteger();

	final AtomicInteger lostReleaseReplies = new AtomicInteger();

	/** The request itself does not arrive. */
	final AtomicInteger lostReleases = new AtomicInteger();

	/** The request is stuck in the network, from where a test delivers it later. */
	final AtomicInteger stuckAcquires = new AtomicInteger();

	final Queue<AcquireCommand> stuck = new ConcurrentLinkedQueue<>();

	/** Whether several keys are acquired together. */
	volatile boolean batches;

	/** The keys that were acquired together. */
	final Queue<List<String>> acquiredTogether = new ConcurrentLinkedQueue<>();

	/** The keys that were released together. */
	final Queue<List<String>> releasedTogether = new ConcurrentLinkedQueue<>();

	/** Changes the answers for keys that were acquired together. */
	volatile UnaryOperator<List<AcquireResult>> afterBatch = (results) -> results;

	/** The keys that were renewed together. */
	final Queue<List<String>> renewedTogether = new ConcurrentLinkedQueue<>();

	/** The acquire that came last. */
	volatile @Nullable AcquireCommand asked;

	volatile boolean renewalsFail;

	volatile boolean renewalsThrow;

	/** The store has a bug: it does not answer for each lease. */
	volatile boolean renewalsAreForgotten;

	volatile boolean releasesThrow;

	volatile boolean renewalsAreNotSent;

	/** How many leases of a call the store has the time to renew. */
	volatile int renewalsInTime = Integer.MAX_VALUE;

	volatile boolean sendsReleases;

	volatile boolean messagesAreLost;

	volatile boolean hasNoMailboxes;

	volatile boolean hasNoInspection;

	volatile boolean hasNoMembers;

	volatile boolean mailboxesFail;

	/** The next mailbox meets an error of the virtual machine. */
	volatile boolean mailboxError;

	/** The clock of the store is centuries ahead. */
	volatile boolean tokensAreTooLarge;

	volatile Runnable beforeMailbox = () -> {
	};

	volatile Runnable beforeLeave = () -> {
	};

	volatile boolean leavesAreLost;

	volatile boolean down;

	volatile boolean misconfigured;

	/** Calls the process to the store, whether there is something to get or not. */
	volatile Consumer<String> call = (key) -> {
	};

	volatile Runnable beforeAcquire = () -> {
	};

	volatile Runnable afterAcquire = () -> {
	};

	volatile Runnable beforeRenew = () -> {
	};

	/** Whether this store can keep a lock; otherwise it is renewed. */
	volatile boolean keeps = true;

	final AtomicInteger keepsAsked = new AtomicInteger();

	final AtomicInteger lostKeepReplies = new AtomicInteger();

	volatile Runnable beforeKeep = () -> {
	};

	volatile Runnable beforeRelease = () -> {
	};

	/** Whether releases report that they are sent, and what comes before their answer. */
	volatile @Nullable Runnable beforeReleaseIsAnswered;

	/** Keys on a node that refuses connections to acquire. */
	volatile Predicate<String> refusing = (key) -> false;

	/** Keys on a node that does not answer. */
	volatile Predicate<String> unreachable = (key) -> false;

	volatile Runnable beforeList = () -> {
	};

	volatile Runnable beforeForcedRelease = () -> {
	};

	TroubledStore() {
		this(new MemoryLockStore());
	}

	TroubledStore(MemoryLockStore memory) {
		this.memory = memory;
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		this.acquires.incrementAndGet();
		this.asked = command;
		if (this.refusing.test(command.key())) {
			throw new StoreException(Effect.NONE, false, "connection refused", null);
		}
		this.beforeAcquire.run();
		failIfDown();
		if (this.stuckAcquires.getAndUpdate((n) -> Math.max(0, n - 1)) > 0) {
			this.stuck.add(command);
			throw new StoreException(Effect.UNKNOWN, false, "no answer in time", null);
		}
		AcquireResult result = this.memory.acquire(command);
		this.afterAcquire.run();
		loseReply(this.lostAcquireReplies);
		if (this.tokensAreTooLarge && result instanceof AcquireResult.Granted) {
			return new AcquireResult.Granted(Long.MAX_VALUE / 1000);
		}
		return result;
	}

	@Override
	public boolean supportsBatches() {
		return this.batches;
	}

	@Override
	public List<AcquireResult> acquireAll(List<AcquireCommand> commands) {
		this.acquiredTogether.add(commands.stream().map(AcquireCommand::key).toList());
		return this.afterBatch.apply(LockStore.super.acquireAll(commands));
	}

	@Override
	public List<ReleaseResult> releaseAll(List<ReleaseCommand> leases) {
		this.releasedTogether.add(leases.stream().map(ReleaseCommand::key).toList());
		return LockStore.super.releaseAll(leases);
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		this.renewals.addAndGet(leases.size());
		this.renewedTogether.add(leases.stream().map(RenewCommand::key).toList());
		this.beforeRenew.run();
		if (this.renewalsThrow) {
			throw new NoClassDefFoundError("a store with a bug");
		}
		if (this.renewalsAreForgotten) {
			return List.of();
		}
		if (this.down || this.renewalsAreNotSent) {
			return leases.stream().map((lease) -> RenewResult.UNKNOWN).toList();
		}
		List<RenewResult> results = new ArrayList<>(
				leases.stream().limit(this.renewalsInTime).map(this::renew).toList());
		results.addAll(Collections.nCopies(leases.size() - results.size(), RenewResult.NOT_SENT));
		return this.renewalsFail ? leases.stream().map((lease) -> RenewResult.UNKNOWN).toList() : results;
	}

	private RenewResult renew(RenewCommand lease) {
		return this.unreachable.test(lease.key()) ? RenewResult.UNKNOWN : this.memory.renew(List.of(lease)).get(0);
	}

	@Override
	public boolean release(String key, String owner) {
		if (this.releasesThrow) {
			throw new NoClassDefFoundError("com/example/Missing");
		}
		this.releases.incrementAndGet();
		this.beforeRelease.run();
		failIfDown();
		if (this.unreachable.test(key)) {
			throw new StoreException(Effect.UNKNOWN, false, "no answer in time", null);
		}
		loseReply(this.lostReleases);
		boolean released = this.memory.release(key, owner);
		loseReply(this.lostReleaseReplies);
		return released;
	}

	@Override
	public boolean release(String key, String owner, Runnable onSent) {
		Runnable beforeAnswer = this.beforeReleaseIsAnswered;
		if (beforeAnswer == null) {
			return release(key, owner);
		}
		boolean released = this.memory.release(key, owner);
		onSent.run();
		beforeAnswer.run();
		return released;
	}

	@Override
	public boolean keep(String key, String owner, Duration rest) {
		if (!this.keeps) {
			return false;
		}
		this.keepsAsked.incrementAndGet();
		this.beforeKeep.run();
		failIfDown();
		boolean kept = this.memory.keep(key, owner, rest);
		loseReply(this.lostKeepReplies);
		return kept;
	}

	/**
	 * Sent at once, unless releases have to wait.
	 */
	@Override
	public boolean releaseAsync(String key, String owner, Consumer<StoreException> onFailure) {
		if (!this.sendsReleases) {
			return false;
		}
		this.releasesSent.incrementAndGet();
		failIfDown();
		try {
			loseReply(this.lostReleases);
			this.memory.release(key, owner);
			loseReply(this.lostReleaseReplies);
		}
		catch (StoreException ex) {
			onFailure.accept(ex);
		}
		return true;
	}

	@Override
	public boolean supportsMembers() {
		return !this.hasNoMembers && this.memory.supportsMembers();
	}

	@Override
	public boolean supportsFairLocks() {
		return true;
	}

	@Override
	public void leave(String storageKey, MailboxAddress mailbox) {
		this.leaves.incrementAndGet();
		this.beforeLeave.run();
		failIfDown();
		if (this.leavesAreLost) {
			throw new StoreException(Effect.UNKNOWN, false, "no answer in time", null);
		}
		this.memory.leave(storageKey, mailbox);
	}

	/**
	 * Listen, unless messages are lost.
	 */
	@Override
	public @Nullable Mailbox openMailbox(MailboxAddress address, Consumer<String> onLockAvailable) {
		this.beforeMailbox.run();
		if (this.mailboxError) {
			this.mailboxError = false;
			throw new NoClassDefFoundError("com/example/Missing");
		}
		if (this.mailboxesFail) {
			throw new StoreException(Effect.NONE, false, "connection refused", null);
		}
		this.call = onLockAvailable;
		return this.hasNoMailboxes ? null : this.memory.openMailbox(address, (key) -> {
			if (!this.messagesAreLost) {
				onLockAvailable.accept(key);
			}
		});
	}

	@Override
	public Optional<StoredLock> find(String key) {
		failIfDown();
		return this.memory.find(key);
	}

	@Override
	public void verify() {
		failIfDown();
	}

	@Override
	public @Nullable StoreInspection inspection() {
		return this.hasNoInspection ? null : new TroubledInspection(this);
	}

	@Override
	public String describe() {
		return "troubled";
	}

	@Override
	public void close() {
	}

	/**
	 * Hold the next acquire until the latch opens.
	 * @return the latch that opens when the acquire has arrived
	 */
	CountDownLatch holdAcquires(CountDownLatch release) {
		CountDownLatch arrived = new CountDownLatch(1);
		this.beforeAcquire = () -> {
			arrived.countDown();
			try {
				release.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new StoreException(Effect.UNKNOWN, false, "interrupted", ex);
			}
		};
		return arrived;
	}

	void failIfDown() {
		if (this.misconfigured) {
			throw new StoreException(Effect.NONE, true, "no such table", null);
		}
		if (this.down) {
			throw new StoreException(Effect.NONE, false, "connection refused", null);
		}
	}

	private static void loseReply(AtomicInteger remaining) {
		if (remaining.getAndUpdate((n) -> Math.max(0, n - 1)) > 0) {
			throw new StoreException(Effect.UNKNOWN, false, "the reply was lost", null);
		}
	}

}
