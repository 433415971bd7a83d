package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.context.support.GenericApplicationContext;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.engine.concurrent.TurnedClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The time that a registry gives the holders of its locks when it stops.
 */
class ShutdownTimeoutTests extends AbstractLeaseLockRegistryTests {

	private LeaseLockRegistry patient(TurnedClock clock) {
		return new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofMinutes(5)).build(), clock);
	}

	@Test
	void restartedRegistryHasItsShutdownTimeAgain() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry patient = patient(clock);
		patient.spendShutdownTime(clock::pass);
		patient.stop();
		patient.start();
		patient.spendShutdownTime((limit) -> assertThat(limit).isEqualTo(Duration.ofMinutes(5)));
		patient.close();
	}

	/**
	 * The lifecycle beans of a context stop before its beans are destroyed, and the tasks
	 * that an executor has queued run in between.
	 */
	@Test
	void c6StoppedRegistryWaitsForHoldersAndGrants() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofSeconds(30)).build());
		LockHandle held = patient.acquireAsync(LockRequest.of("key")).get();
		CompletableFuture<Void> stopping = inOtherThread(() -> {
			patient.stop();
			return null;
		});
		Awaitility.await().until(() -> !patient.isRunning());
		patient.acquireAsync(LockRequest.of("queued")).get().release();
		assertThat(stopping).isNotDone();
		held.release();
		stopping.get();
		patient.acquireAsync(LockRequest.of("queued")).get().release();
		patient.close();
		assertThatExceptionOfType(LockRegistryClosedException.class).isThrownBy(() -> patient.acquire("queued"));
	}

	/**
	 * The client of the store may be paused next.
	 */
	@Test
	void c6PausedContextWaitsForHolders() throws Exception {
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			context.registerBean(LeaseLockRegistry.class, () -> new LeaseLockRegistry(this.store,
					this.settings.toBuilder().shutdownTimeout(Duration.ofSeconds(30)).build()));
			context.refresh();
			LeaseLockRegistry patient = context.getBean(LeaseLockRegistry.class);
			LockHandle held = patient.acquireAsync(LockRequest.of("key")).get();
			CompletableFuture<Void> pausing = inOtherThread(() -> {
				context.pause();
				return null;
			});
			Awaitility.await().until(() -> !patient.isRunning());
			assertThat(pausing).isNotDone();
			held.release();
			pausing.get();
			context.restart();
			assertThat(patient.isRunning()).isTrue();
		}
	}

	/**
	 * Queued work that goes on acquiring locks would use up the time of the executors.
	 */
	@Test
	void c6StoppedRegistryDoesNotWaitForLocksGrantedLater() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofMinutes(5)).build());
		LockHandle held = patient.acquireAsync(LockRequest.of("key")).get();
		Thread stopping = new Thread(patient::stop);
		stopping.start();
		Awaitility.await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
		LockHandle later = patient.acquireAsync(LockRequest.of("queued")).get();
		held.release();
		Awaitility.await().until(() -> !stopping.isAlive());
		later.release();
		patient.close();
	}

	/**
	 * Readers that join one after the other would keep the lease without end.
	 */
	@Test
	void c6StoppedRegistryDoesNotWaitForReadersThatJoinLater() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofMinutes(5)).build());
		LockRequest shared = LockRequest.of("key").withMode(LockMode.SHARED);
		LockHandle held = patient.acquireAsync(shared).get();
		Thread stopping = new Thread(patient::stop);
		stopping.start();
		Awaitility.await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
		LockHandle later = patient.acquireAsync(shared).get();
		assertThat(later.token()).as("shares the lease").isEqualTo(held.token());
		held.release();
		Awaitility.await().until(() -> !stopping.isAlive());
		assertThat(later.isValid()).isTrue();
		later.release();
		patient.close();
	}

	@Test
	void c6SpentShutdownTimeShortensTheNextWait() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry patient = patient(clock);
		patient.spendShutdownTime((limit) -> clock.pass(limit.minusMinutes(2)));
		patient.spendShutdownTime((limit) -> assertThat(limit).isBetween(Duration.ofMinutes(1), Duration.ofMinutes(2)));
		patient.close();
	}

	@Test
	void c6ShutdownTimeoutCoversStopAndClose() throws Exception {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry patient = patient(clock);
		LockHandle held = patient.acquireAsync(request("key", Duration.ofMinutes(20), Duration.ZERO)).get();
		CountDownLatch stopped = new CountDownLatch(1);
		Thread stopping = new Thread(() -> {
			patient.stop();
			stopped.countDown();
		});
		stopping.start();
		Awaitility.await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
		clock.pass(Duration.ofMinutes(5));
		stopping.interrupt();
		stopped.await();
		assertThat(held.isValid()).as("its work may go on while beans are destroyed").isTrue();
		patient.close();
		assertThat(held.isValid()).isFalse();
		assertThat(isFreeInStore("key")).isTrue();
	}

}
