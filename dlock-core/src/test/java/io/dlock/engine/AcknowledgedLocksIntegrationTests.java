package io.dlock.engine;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.console.LockConsole;
import io.dlock.store.redis.RedisAcknowledgement;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests and renewals whose replica stands still.
 */
@Timeout(240)
class AcknowledgedLocksIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(8);

	private final LockSettings settings = LockSettings.builder()
		.lease(LEASE)
		.commandTimeout(Duration.ofSeconds(2))
		.waitTime(Duration.ofSeconds(1))
		.shutdownTimeout(Duration.ZERO)
		.build();

	private final RedisServer master = RedisServer.start("--repl-diskless-sync-delay", "0");

	private final RedisServer replica = RedisServer.start("--replicaof", "127.0.0.1",
			Integer.toString(this.master.port()));

	private final LettuceConnectionFactory factory = LettuceFactories.create(this.master.host(), this.master.port());

	private RedisLockStore store;

	private LeaseLockRegistry registry;

	@BeforeEach
	void start() {
		this.master.awaitReplicas();
		this.store = Patience.connected(new RedisLockStore(this.factory,
				RedisLockStoreSettings.defaults()
					.withCommandTimeout(this.settings.commandTimeout())
					.withAcknowledgement(RedisAcknowledgement.byReplicas(1, Duration.ofMillis(400)))));
		this.registry = new LeaseLockRegistry(this.store, this.settings);
	}

	@AfterEach
	void stop() {
		TestContexts.dropHandles();
		if (this.registry != null) {
			this.registry.close();
			this.store.close();
		}
		this.factory.destroy();
		this.replica.close();
		this.master.close();
	}

	/**
	 * On a busy machine the replica may be too late for a request.
	 */
	private LockHandle acquirePatiently(String key) {
		return this.registry.acquire(LockRequest.builder(key).waitTime(Patience.EVENTUALLY).build());
	}

	@Test
	void requestFailsAndItsLockIsRevoked() {
		acquirePatiently("a").release();
		this.replica.pause();
		for (LockMode mode : LockMode.values()) {
			assertThatExceptionOfType(LockStoreException.class)
				.isThrownBy(() -> this.registry.acquire(LockRequest.builder("a").mode(mode).build()))
				.withMessageContaining("0 of 1 replicas acknowledged the lock within 400 ms")
				.withMessageContaining("If the store has granted it, it is revoked");
			Awaitility.await().until(() -> this.store.find("a").isEmpty());
		}
		this.replica.resume();
		Awaitility.await().ignoreExceptionsInstanceOf(LockStoreException.class).untilAsserted(() -> {
			LockHandle handle = this.registry.acquire("a");
			assertThat(handle.isValid()).isTrue();
			handle.release();
		});
	}

	@Test
	void lockWhoseRenewalsAreNotAcknowledgedIsLost() {
		LockHandle kept = acquirePatiently("kept");
		Duration before = kept.remaining();
		this.replica.pause();
		Awaitility.await().until(() -> kept.remaining().compareTo(before.dividedBy(2)) < 0);
		this.replica.resume();
		Awaitility.await().until(() -> kept.remaining().compareTo(before.multipliedBy(6).dividedBy(10)) > 0);
		assertThat(kept.isValid()).isTrue();
		this.replica.pause();
		long begin = System.nanoTime();
		Awaitility.await().until(() -> {
			long passed = System.nanoTime() - begin;
			assertThat(kept.remaining().plusNanos(passed)).as("from the pause on").isLessThan(LEASE);
			return !kept.isValid();
		});
	}

	@Test
	void r19CheckFailsWhileNoLockIsAcknowledged() {
		LockConsole console = this.registry.console();
		Awaitility.await().untilAsserted(() -> assertThat(console.check().failure()).isNull());
		this.replica.pause();
		for (int i = 0; i < 3; i++) {
			assertThat(console.check().failure()).contains("0 of 1 replicas");
		}
	}

}
