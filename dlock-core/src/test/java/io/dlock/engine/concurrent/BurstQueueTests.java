package io.dlock.engine.concurrent;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BurstQueueTests {

	private final Queue<Runnable> pauses = new ArrayDeque<>();

	private final List<Runnable> threads = new ArrayList<>();

	private final List<String> done = new ArrayList<>();

	private boolean noThreads;

	private final BurstQueue queue = new BurstQueue((task, delay) -> {
		this.pauses.add(task);
		return new CompletableFuture<>();
	}, (work) -> !this.noThreads && this.threads.add(work), 4);

	@AfterEach
	void interruptIsNotLeft() {
		assertThat(Thread.interrupted()).isFalse();
	}

	private void add(String... tasks) {
		for (String task : tasks) {
			this.queue.add(() -> this.done.add(task));
		}
	}

	private void pause() {
		Runnable next = this.pauses.remove();
		next.run();
	}

	private void runThread() {
		this.threads.remove(0).run();
	}

	@Test
	void oneThreadRunsTheTasksOfABurst() {
		add("1", "2", "3");
		assertThat(this.threads).hasSize(1);
		runThread();
		assertThat(this.done).containsExactly("1", "2", "3");
		pause();
		assertThat(this.pauses).isEmpty();
		assertThat(this.threads).isEmpty();
	}

	@Test
	void threadsDoubleWhileTasksAreLeft() {
		add("1", "2");
		pause();
		assertThat(this.threads).hasSize(2);
		pause();
		assertThat(this.threads).hasSize(4);
		pause();
		assertThat(this.threads).as("the limit").hasSize(4);
	}

	@Test
	void tasksAfterABurstAreRun() {
		add("1");
		runThread();
		pause();
		add("2");
		runThread();
		assertThat(this.done).containsExactly("1", "2");
	}

	@Test
	void taskThatComesBetweenLastLookAndEndOfThreadIsRun() {
		this.queue.add(() -> {
			pause();
			add("2");
		});
		runThread();
		assertThat(this.done).containsExactly("2");
	}

	@Test
	void threadIsTriedAgainAfterAPause() {
		this.noThreads = true;
		add("1");
		pause();
		this.noThreads = false;
		pause();
		assertThat(this.threads).hasSize(4);
		runThread();
		assertThat(this.done).containsExactly("1");
	}

	@Test
	void interruptOfATaskDoesNotConcernTheNext() {
		this.queue.add(Thread.currentThread()::interrupt);
		this.queue.add(() -> this.done.add("interrupted: " + Thread.currentThread().isInterrupted()));
		runThread();
		assertThat(this.done).containsExactly("interrupted: false");
	}

	@Test
	void closedTimerStopsTheGrowthOnly() {
		BurstQueue closed = new BurstQueue(BurstQueueTests::nothing, this.threads::add, 4);
		closed.add(() -> this.done.add("1"));
		runThread();
		closed.add(() -> this.done.add("2"));
		runThread();
		assertThat(this.done).containsExactly("1", "2");
	}

	private static @Nullable CompletableFuture<?> nothing(Runnable task, long delay) {
		return null;
	}

}
