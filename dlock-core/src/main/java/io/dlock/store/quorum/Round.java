package io.dlock.store.quorum;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
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

	private final BlockingQueue<Answer<T>> arrivals = new LinkedBlockingQueue<>();

	private final List<Answer<T>> answers;

	Round(List<CompletableFuture<T>> futures) {
		this.asked = futures.size();
		this.futures = futures;
		this.answers = new ArrayList<>(this.asked);
		for (int i = 0; i < this.asked; i++) {
			int node = i;
			var unused = futures.get(i)
				.whenComplete((value, failure) -> this.arrivals.add(new Answer<>(node, value, unwrapped(failure))));
		}
	}

	private static @Nullable Throwable unwrapped(@Nullable Throwable failure) {
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
		long begin = System.nanoTime();
		try {
			while (this.answers.size() < this.asked && !suffice.test(this)) {
				Answer<T> next = this.arrivals.poll(nanos - (System.nanoTime() - begin), TimeUnit.NANOSECONDS);
				if (next == null) {
					return this;
				}
				this.answers.add(next);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return this;
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
