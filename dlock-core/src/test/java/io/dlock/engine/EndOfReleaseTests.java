package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSettingsBuilder;
import io.dlock.ReleaseMode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A registry that closes waits for releases under way, here for hours, and for no others.
 */
@Timeout(20)
class EndOfReleaseTests extends AbstractLeaseLockRegistryTests {

	private LockSettingsBuilder patient() {
		return this.settings.toBuilder().commandTimeout(Duration.ofHours(1)).lease(Duration.ofHours(10));
	}

	@Test
	void releaseOfAPermitWithAMinHoldIsOver() {
		LeaseLockRegistry patient = another(new LeaseLockRegistry(this.store, patient().build()));
		patient.acquirePermit(LockRequest.builder("key").minHold(Duration.ofHours(2)).build(), 1).release();
		patient.close();
	}

	@Test
	void releaseOfASharedLockThatIsSentIsOver() {
		this.store.sendsReleases = true;
		LeaseLockRegistry sending = another(
				new LeaseLockRegistry(this.store, patient().releaseMode(ReleaseMode.ASYNC).build()));
		sending.acquire(LockRequest.of("key").withMode(LockMode.SHARED)).release();
		assertThat(this.store.releasesSent).hasValue(1);
		sending.close();
	}

	/**
	 * The connection ends with the registry, and the lock would stay taken for a lease.
	 */
	@Test
	void releaseWhileTheRegistryClosesIsNotOnlySent() {
		this.store.sendsReleases = true;
		LeaseLockRegistry sending = another(new LeaseLockRegistry(this.store,
				this.settings.toBuilder()
					.releaseMode(ReleaseMode.ASYNC)
					.shutdownTimeout(Duration.ofMinutes(1))
					.build()));
		LockHandle handle = sending.acquireAsync(LockRequest.of("key")).join();
		CompletableFuture<Void> closed = CompletableFuture.runAsync(sending::close);
		Awaitility.await().until(() -> !sending.queues().isOpen());
		handle.release();
		assertThat(closed).succeedsWithin(Duration.ofSeconds(10));
		assertThat(this.store.releasesSent).hasValue(0);
		assertThat(isFreeInStore("key")).isTrue();
	}

}
