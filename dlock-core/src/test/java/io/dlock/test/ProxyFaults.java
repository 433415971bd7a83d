package io.dlock.test;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The faults that a {@link TcpProxy} inflicts on the bytes that pass.
 */
final class ProxyFaults {

	private final ReentrantLock lock = new ReentrantLock();

	/**
	 * Signalled when a fault is switched or a connection ends.
	 */
	private final Condition changed = this.lock.newCondition();

	private final Direction requests = new Direction();

	private final Direction replies = new Direction();

	private final AtomicInteger repliesToDrop = new AtomicInteger();

	private volatile @Nullable String silencing;

	private volatile boolean discard;

	private volatile boolean refuse;

	void delay(boolean replies, long nanos) {
		change(() -> direction(replies).delay = nanos);
	}

	void blackHole(boolean replies, boolean on) {
		change(() -> direction(replies).blackHole = on);
	}

	void cutAfter(boolean replies, int bytes) {
		change(() -> direction(replies).bytesUntilCut = bytes);
	}

	void dropReplies(int n) {
		this.repliesToDrop.set(n);
	}

	void silenceAfter(String word) {
		this.silencing = word;
	}

	/**
	 * Silence a connection if its client has sent the word, unless all faults are
	 * switched off meanwhile.
	 * @param sent what its client has sent
	 * @param silence silences the connection
	 */
	void silenceIfSent(String sent, Runnable silence) {
		String word = this.silencing;
		if (word != null && sent.contains(word)) {
			change(() -> {
				if (this.silencing != null) {
					silence.run();
				}
			});
		}
	}

	void discard(boolean on) {
		this.discard = on;
	}

	boolean discard() {
		return this.discard;
	}

	void refuse(boolean on) {
		this.refuse = on;
	}

	boolean refuse() {
		return this.refuse;
	}

	/**
	 * Switch all faults off.
	 * @param speak lets the connections speak again that are silent
	 */
	void heal(Runnable speak) {
		this.discard = false;
		this.refuse = false;
		this.repliesToDrop.set(0);
		change(() -> {
			this.silencing = null;
			speak.run();
			this.requests.heal();
			this.replies.heal();
		});
	}

	/**
	 * Tell those who wait for their turn that their connection has ended.
	 */
	void connectionEnded() {
		change(() -> {
		});
	}

	boolean takeReplyToDrop() {
		return this.repliesToDrop.getAndUpdate((n) -> Math.max(0, n - 1)) > 0;
	}

	/**
	 * Ask how many of the given bytes may pass before the connection is to be cut.
	 * @param replies whether they come from the server
	 * @param length how many there are
	 * @return as many, or fewer: then cut
	 */
	int passBeforeCut(boolean replies, int length) {
		this.lock.lock();
		try {
			Direction direction = direction(replies);
			if (direction.bytesUntilCut < 0) {
				return length;
			}
			if (direction.bytesUntilCut >= length) {
				direction.bytesUntilCut -= length;
				return length;
			}
			int passing = direction.bytesUntilCut;
			direction.bytesUntilCut = -1;
			return passing;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Wait until neither a delay nor a black hole holds the bytes back.
	 * @param replies whether they come from the server
	 * @param silent whether the connection is a black hole of its own
	 * @param closed whether the connection has ended
	 * @throws IOException if the connection has ended
	 */
	void awaitTurn(boolean replies, BooleanSupplier silent, BooleanSupplier closed) throws IOException {
		long arrived = System.nanoTime();
		Direction direction = direction(replies);
		this.lock.lock();
		try {
			while (!closed.getAsBoolean()) {
				long remaining = direction.delay - (System.nanoTime() - arrived);
				if (direction.blackHole || silent.getAsBoolean()) {
					this.changed.awaitUninterruptibly();
				}
				else if (remaining <= 0) {
					return;
				}
				else {
					this.changed.awaitNanos(remaining);
				}
			}
			throw new IOException("Connection closed");
		}
		catch (InterruptedException ex) {
			throw new IOException(ex);
		}
		finally {
			this.lock.unlock();
		}
	}

	private Direction direction(boolean replies) {
		return replies ? this.replies : this.requests;
	}

	private void change(Runnable change) {
		this.lock.lock();
		try {
			change.run();
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * One direction, guarded by the lock.
	 */
	private static final class Direction {

		private long delay;

		private boolean blackHole;

		private int bytesUntilCut = -1;

		private void heal() {
			this.delay = 0;
			this.blackHole = false;
			this.bytesUntilCut = -1;
		}

	}

}
