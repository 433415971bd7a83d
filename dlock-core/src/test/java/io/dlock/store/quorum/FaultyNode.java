package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.QuorumCapable;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.memory.MemoryLockStore;

/**
 * A node with a clock of its own that fails as a test says. It runs on the thread that
 * asks it.
 */
final class FaultyNode implements LockStore, QuorumCapable {

	/** The behavior towards a command. */
	enum Mode {

		WORKS, IS_DOWN, FAILS_ONCE, LOSES_ANSWERS, BREAKS, IS_LATE

	}

	private final LongSupplier time;

	private final Queue<Runnable> late = new ArrayDeque<>();

	private final Duration longestLease;

	private long step;

	private long lastLoss;

	private int raised;

	private int asked;

	private boolean refuses;

	private boolean misconfigured;

	private boolean staysOpen;

	private boolean closed;

	private MemoryLockStore data = new MemoryLockStore();

	/** The rest of the quarantine, as the last answer told it. */
	private Duration quarantine = Duration.ZERO;

	private Mode mode = Mode.WORKS;

	/**
	 * Create a new node.
	 * @param time the time of the test
	 * @param longestLease how long the node does not vote after it has lost its data;
	 * zero if it never does
	 */
	FaultyNode(LongSupplier time, Duration longestLease) {
		this.time = time;
		this.longestLease = longestLease;
		restartEmpty();
	}

	static List<FaultyNode> list(int count, LongSupplier time, Duration longestLease) {
		List<FaultyNode> nodes = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			nodes.add(new FaultyNode(time, longestLease));
		}
		return nodes;
	}

	/**
	 * Lose all data. Tokens follow the real clock, by which no lease passes before the
	 * next grant: the time of the test passes here.
	 */
	void restartEmpty() {
		this.data = new MemoryLockStore(this::now);
		this.data.acquire(new AcquireCommand("clock", "clock", Duration.ofMillis(1), "", ""));
		this.data.raiseToken("clock", "clock", TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis())
				+ TimeUnit.NANOSECONDS.toMicros(this.time.getAsLong()));
		this.lastLoss = now();
	}

	/**
	 * Restart with all data, of which the node cannot know that nothing is missing.
	 */
	void restart() {
		this.lastLoss = now();
	}

	private long now() {
		return this.time.getAsLong() + this.step;
	}

	/**
	 * Be another address of the same server.
	 */
	void share(FaultyNode other) {
		this.data = other.data;
	}

	/**
	 * How many acquires have come.
	 */
	int asked() {
		return this.asked;
	}

	int raised() {
		return this.raised;
	}

	void stepClock(Duration step) {
		this.step += step.toNanos();
	}

	void set(Mode mode) {
		this.mode = mode;
	}

	/**
	 * Refuse this process, as a server does that it gives a wrong password.
	 */
	void refuse() {
		this.mode = Mode.IS_DOWN;
		this.refuses = true;
	}

	/**
	 * Fail the check at start, as a server does whose configuration loses locks.
	 */
	void misconfigure() {
		this.misconfigured = true;
	}

	/**
	 * Fail to close.
	 */
	void stayOpen() {
		this.staysOpen = true;
	}

	boolean isClosed() {
		return this.closed;
	}

	/**
	 * Execute the commands that were late.
	 */
	void deliver() {
		for (Runnable command = this.late.poll(); command != null; command = this.late.poll()) {
			command.run();
		}
	}

	private <T> T answer(Supplier<T> command) {
		return switch (this.mode) {
			case WORKS -> command.get();
			case IS_DOWN -> throw new StoreException(Effect.NONE, this.refuses, "down", null);
			case FAILS_ONCE -> {
				this.mode = Mode.WORKS;
				throw new StoreException(Effect.NONE, false, "failed", null);
			}
			case LOSES_ANSWERS -> {
				var unused = command.get();
				throw new StoreException(Effect.UNKNOWN, false, "lost", null);
			}
			case BREAKS -> {
				var unused = command.get();
				this.mode = Mode.IS_DOWN;
				throw new StoreException(Effect.UNKNOWN, false, "broken", null);
			}
			case IS_LATE -> {
				this.late.add(() -> {
					try {
						var unused = command.get();
					}
					catch (StoreException ex) {
						// has no caller any more
					}
				});
				throw new StoreException(Effect.UNKNOWN, false, "late", null);
			}
		};
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		return acquire(command, 0);
	}

	@Override
	public AcquireResult acquire(AcquireCommand command, long leastToken) {
		this.asked++;
		return answer(() -> {
			this.quarantine = Duration.ofNanos(Math.max(0, this.lastLoss + this.longestLease.toNanos() - now()));
			if (!this.quarantine.isZero()) {
				throw new StoreQuarantinedException(this.quarantine);
			}
			return this.data.acquire(command, leastToken);
		});
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		try {
			return answer(() -> this.data.renew(leases));
		}
		catch (StoreException ex) {
			return Collections.nCopies(leases.size(), RenewResult.UNKNOWN);
		}
	}

	@Override
	public boolean release(String key, String owner) {
		return answer(() -> this.data.release(key, owner));
	}

	@Override
	public boolean raiseToken(String key, String owner, long token) {
		this.raised++;
		return answer(() -> this.data.raiseToken(key, owner, token));
	}

	@Override
	public String serverId() {
		return answer(this.data::serverId);
	}

	@Override
	public Optional<Duration> quarantine() {
		return Optional.of(this.quarantine);
	}

	@Override
	public Optional<StoredLock> find(String key) {
		return answer(() -> this.data.find(key));
	}

	@Override
	public StoreInspection inspection() {
		return answer(() -> this.data);
	}

	@Override
	public void verify() {
		if (this.misconfigured) {
			throw new StoreMisconfiguredException("The node evicts locks.", "Change its policy.", null);
		}
		answer(() -> true);
	}

	@Override
	public String describe() {
		return "node";
	}

	@Override
	public void close() {
		if (this.staysOpen) {
			throw new IllegalStateException("does not close");
		}
		this.closed = true;
	}

}
