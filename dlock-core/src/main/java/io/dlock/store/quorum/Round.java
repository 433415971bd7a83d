package io.dlock.store.quorum;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The answers of the nodes to one command, as far as they have come.
 *
 * @param <T> the type of an answer
 */
final class Round<T> {

	private final int asked;

	private final List<CompletableFuture<T>> futures;

	private final int deciding;

	private final ReentrantLock arriving = new ReentrantLock();

	private final Condition arrived = this.arriving.newCondition();

	/** Guarded by {@code arriving}. */
	private final List<Answer<T>> arrivals = new ArrayList<>();

	/** How many arrivals wake up the thread that waits. Guarded by {@code arriving}. */
	private int awaited;

	private final List<Answer<T>> answers;

	/**
	 * Create a round.
	 * @param futures complete with the answers
	 * @param deciding the least number of answers that may suffice: a thread that waits
	 * does not wake up for fewer
	 */
	Round(List<CompletableFuture<T>> futures, int deciding) {
		this.asked = futures.size();
		this.deciding = deciding;
		this.futures = futures;
		this.answers = new ArrayList<>(this.asked);
		for (int i = 0; i < this.asked; i++) {
			int node = i;
			var unused = futures.get(i)
				.whenComplete((value, failure) -> arrive(new Answer<>(node, value, unwrapped(failure))));
		}
	}

	private void arrive(Answer<T> answer) {
		this.arriving.lock();
		try {
			this.arrivals.add(answer);
			if (this.arrivals.size() >= this.awaited) {
				this.arrived.signal();
			}
		}
		finally {
			this.arriving.unlock();
		}
	}

	static @Nullable Throwable unwrapped(@Nullable Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	/**
	 * Wait until the answers suffice, all are there, or the time is over. An interrupt
	 * ends the wait and remains set.
	 * @param suffice whether the answers so far suffice
	 * @param nanos the longest wait
	 * @return this round
	 */
	Round<T> await(Predicate<Round<T>> suffice, long nanos) {
		long end = System.nanoTime() + nanos;
		try {
			while (this.answers.size() < this.asked && !suffice.test(this) && receive(end)) {
				// more answers have come
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return this;
	}

	/**
	 * Wait for as many answers as may suffice, but for one more at least.
	 * @return whether there are more answers
	 */
	private boolean receive(long end) throws InterruptedException {
		this.arriving.lockInterruptibly();
		try {
			this.awaited = Math.max(1, this.deciding - this.answers.size());
			long left = end - System.nanoTime();
			while (this.arrivals.size() < this.awaited && left > 0) {
				left = this.arrived.awaitNanos(left);
			}
			boolean more = !this.arrivals.isEmpty();
			this.answers.addAll(this.arrivals);
			this.arrivals.clear();
			return more;
		}
		finally {
			this.arriving.unlock();
		}
	}

	/**
	 * Receive the answers of the nodes, also those that come after the wait.
	 * @param receiver takes the number of a node and its answer
	 */
	void whenAnswered(BiConsumer<Integer, T> receiver) {
		for (int i = 0; i < this.asked; i++) {
			int node = i;
			var unused = this.futures.get(i).thenAccept((value) -> receiver.accept(node, value));
		}
	}

	List<Answer<T>> answers() {
		return this.answers;
	}

	/**
	 * The answer of a node.
	 * @param node the number of the node
	 * @return the answer, or {@code null} if it has not come yet
	 */
	@Nullable Answer<T> answer(int node) {
		return this.answers.stream().filter((answer) -> answer.node() == node).findFirst().orElse(null);
	}

	List<T> values() {
		List<T> values = new ArrayList<>(this.answers.size());
		for (Answer<T> answer : this.answers) {
			if (answer.value() != null) {
				values.add(answer.value());
			}
		}
		return values;
	}

	int count(Predicate<T> wanted) {
		int count = 0;
		for (Answer<T> answer : this.answers) {
			count += (answer.value() != null && wanted.test(answer.value())) ? 1 : 0;
		}
		return count;
	}

	/** The nodes that have not answered yet. */
	int pending() {
		return this.asked - this.answers.size();
	}

	/** The nodes of which no answer is known: those that failed, and those pending. */
	int unknown() {
		return this.asked - count((value) -> true);
	}

	/**
	 * The answer of a node.
	 *
	 * @param node the number of the node
	 * @param value the answer, or {@code null} if it failed
	 * @param failure the failure, or {@code null} if it answered
	 */
	record Answer<T>(int node, @Nullable T value, @Nullable Throwable failure) {

	}

}
