package io.dlock.autoconfigure.actuate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

import io.dlock.LockInfo;
import io.dlock.console.ForcedRelease;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockConsole;
import io.dlock.console.LockList;
import io.dlock.console.StoreReport;
import io.dlock.test.MachineWatch;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When the health is asked for, and what comes of it.
 */
@Timeout(60)
class DlockHealthIndicatorTests {

	private static final Duration LONG = Duration.ofSeconds(30);

	private final AtomicInteger checks = new AtomicInteger();

	private volatile Supplier<StoreReport> check = () -> report(null);

	private final CountDownLatch end = new CountDownLatch(1);

	@AfterEach
	void endHangingChecks() {
		this.end.countDown();
		Thread.interrupted();
	}

	private static StoreReport report(@Nullable String failure, String... warnings) {
		return new StoreReport("a store", failure, Duration.ofMillis(3), "Server 1", "master", List.of(warnings));
	}

	private DlockHealthIndicator indicator(Duration timeout, Duration interval) {
		return new DlockHealthIndicator(new CheckedConsole(), timeout, interval);
	}

	@Test
	void r19UpReportsTheServerAndItsWarnings() {
		this.check = () -> report(null, "a warning");
		Health health = indicator(LONG, LONG).health();
		assertThat(health.getStatus()).isEqualTo(Status.UP);
		assertThat(health.getDetails()).containsEntry("store", "a store")
			.containsEntry("server", "Server 1")
			.containsEntry("role", "master")
			.containsEntry("took", "3 ms")
			.containsEntry("warnings", List.of("a warning"))
			.doesNotContainKey("failure");
	}

	@Test
	void r19DownReportsTheReason() {
		this.check = () -> report("no locks");
		Health health = indicator(LONG, LONG).health();
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails()).containsEntry("failure", "no locks").containsEntry("role", "master");
	}

	@Test
	void checkThatThrowsIsDown() {
		for (Throwable failure : List.of(new IllegalStateException("a bug"), new NoClassDefFoundError("a class"))) {
			this.check = () -> {
				throw sneaky(failure);
			};
			Health health = indicator(LONG, LONG).health();
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails().get("failure")).asString().contains(failure.getMessage());
		}
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> RuntimeException sneaky(Throwable failure) throws T {
		throw (T) failure;
	}

	@Test
	void healthThatIsAskedForOftenIsCheckedOnce() {
		DlockHealthIndicator indicator = indicator(LONG, LONG);
		for (int i = 0; i < 1000; i++) {
			assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
		}
		assertThat(this.checks).hasValue(1);
	}

	@Test
	void healthIsCheckedAgainAfterTheInterval() {
		DlockHealthIndicator indicator = indicator(LONG, Duration.ZERO);
		indicator.health();
		indicator.health();
		assertThat(this.checks).hasValue(2);
	}

	@Test
	void failureIsCheckedAgainSoon() {
		// on a busy machine the second may be over before the next request
		MachineWatch.repeatIfLate(() -> {
			this.checks.set(0);
			DlockHealthIndicator indicator = indicator(LONG, Duration.ofSeconds(Long.MAX_VALUE));
			this.check = () -> report("no locks");
			assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
			this.check = () -> report(null);
			assertThat(indicator.health().getStatus()).as("still").isEqualTo(Status.DOWN);
			Awaitility.await().until(() -> indicator.health().getStatus().equals(Status.UP));
			assertThat(this.checks).hasValue(2);
		});
	}

	@Test
	void requestWaitsForOneCommandTimeoutAndSharesTheCheck() throws Exception {
		this.check = () -> {
			awaitQuietly(this.end);
			return report(null);
		};
		DlockHealthIndicator indicator = indicator(Duration.ofMillis(50), Duration.ZERO);
		ExecutorService callers = Executors.newFixedThreadPool(4);
		try {
			List<Future<Health>> healths = new ArrayList<>();
			for (int i = 0; i < 20; i++) {
				healths.add(callers.submit(() -> indicator.health()));
			}
			for (Future<Health> health : healths) {
				assertThat(health.get().getStatus()).isEqualTo(Status.DOWN);
				assertThat(health.get().getDetails().get("failure")).asString().contains("within 50 ms");
			}
			assertThat(this.checks).hasValue(1);
		}
		finally {
			callers.shutdown();
		}
		this.end.countDown();
		Awaitility.await().until(() -> indicator.health().getStatus().equals(Status.UP));
	}

	@Test
	void interruptedCallerKeepsItsFlag() {
		this.check = () -> {
			awaitQuietly(this.end);
			return report(null);
		};
		Thread.currentThread().interrupt();
		assertThat(indicator(LONG, LONG).health().getStatus()).isEqualTo(Status.DOWN);
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Answers what a test wants.
	 */
	private final class CheckedConsole implements LockConsole {

		@Override
		public StoreReport check() {
			DlockHealthIndicatorTests.this.checks.incrementAndGet();
			return DlockHealthIndicatorTests.this.check.get();
		}

		@Override
		public LocalLocks local() {
			throw new UnsupportedOperationException();
		}

		@Override
		public LockList list(int limit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public java.util.Optional<LockInfo> find(String key) {
			throw new UnsupportedOperationException();
		}

		@Override
		public LockList forceReleaseAll(String instance) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ForcedRelease forceRelease(String key, long token) {
			throw new UnsupportedOperationException();
		}

	}

	/**
	 * A thread that can start no other: the new one asks it for its class loader.
	 */
	private static final class Lonely extends Thread {

		Lonely(Runnable body) {
			super(body);
		}

		@Override
		public ClassLoader getContextClassLoader() {
			throw new OutOfMemoryError("unable to create native thread");
		}

	}

	@Test
	void healthIsCheckedAgainAfterACheckForWhichThereWasNoThread() {
		DlockHealthIndicator indicator = indicator(Duration.ofSeconds(5), LONG);
		AtomicReference<Health> lonely = new AtomicReference<>();
		Thread thread = new Lonely(() -> lonely.set(indicator.health()));
		thread.start();
		Awaitility.await().until(() -> lonely.get() != null);
		assertThat(lonely.get().getStatus()).isEqualTo(Status.DOWN);
		assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
	}

}
