package io.dlock.engine.concurrent;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

class AsyncTimeoutTests {

	private final TurnedClock clock = new TurnedClock();

	private final EngineThreads timer = mock(EngineThreads.class);

	private final List<Runnable> tasks = new ArrayList<>();

	private final List<Duration> delays = new ArrayList<>();

	private AsyncTimeout timeout(Duration waitTime, Duration commandTimeout) {
		given(this.timer.schedule(any(), anyLong())).willAnswer((call) -> {
			this.tasks.add(call.getArgument(0));
			this.delays.add(Duration.ofNanos(call.getArgument(1)));
			return null;
		});
		AsyncTimeout timeout = new AsyncTimeout(this.timer, () -> {
		});
		timeout.set(Deadline.after(this.clock, waitTime), commandTimeout);
		return timeout;
	}

	@Test
	void callUnderWayHasATenthOfASecondBeyondTheWaitTime() {
		AsyncTimeout timeout = timeout(Duration.ofSeconds(10), Duration.ofMillis(50));
		timeout.begin();
		this.tasks.get(0).run();
		assertThat(this.delays).containsExactly(Duration.ofSeconds(10), Duration.ofMillis(100));
		then(this.timer).should(never()).executeTimerCallback(any());
		this.tasks.get(1).run();
		then(this.timer).should().executeTimerCallback(any());
	}

	/**
	 * The answer has come while the process was paused, and has not been read yet.
	 */
	@Test
	void callUnderWayHasATenthOfASecondAfterAPauseOfTheProcess() {
		AsyncTimeout timeout = timeout(Duration.ZERO, Duration.ofSeconds(2));
		timeout.begin();
		this.clock.pass(Duration.ofSeconds(30));
		this.tasks.get(0).run();
		assertThat(this.delays).containsExactly(Duration.ofSeconds(2), Duration.ofMillis(100));
		this.clock.pass(Duration.ofSeconds(30));
		this.tasks.get(1).run();
		then(this.timer).should().executeTimerCallback(any());
	}

	/**
	 * The request has ended on another thread meanwhile.
	 */
	@Test
	void timeoutThatIsSetAfterItsCancellationLeavesNothingInTheTimer() {
		Future<?> scheduled = mock(Future.class);
		given(this.timer.schedule(any(), anyLong())).willAnswer((call) -> scheduled);
		AsyncTimeout timeout = new AsyncTimeout(this.timer, () -> {
		});
		timeout.cancel();
		timeout.set(Deadline.after(this.clock, Duration.ofHours(1)), Duration.ofSeconds(1));
		then(scheduled).should().cancel(false);
	}

	@ParameterizedTest
	@CsvSource({ "PT1H, PT1H", "PT0.05S, PT1S" })
	void tryHasTheTimeOfACallAndASecondAtLeast(Duration commandTimeout, Duration expected) {
		timeout(Duration.ZERO, commandTimeout);
		assertThat(this.delays).containsExactly(expected);
	}

	/**
	 * The next key of a set is requested when the time of the caller is over already.
	 */
	@Test
	void requestThatComesTooLateHasNotTheTimeOfATry() {
		TurnedClock clock = new TurnedClock();
		Deadline deadline = Deadline.after(clock, Duration.ofSeconds(1));
		clock.pass(Duration.ofHours(2));
		CompletableFuture<Void> ended = new CompletableFuture<>();
		try (EngineThreads threads = new EngineThreads()) {
			AsyncTimeout timeout = new AsyncTimeout(threads, () -> ended.complete(null));
			timeout.begin();
			timeout.set(deadline, Duration.ofHours(1));
			assertThat(ended).succeedsWithin(Patience.EVENTUALLY);
		}
	}

}
