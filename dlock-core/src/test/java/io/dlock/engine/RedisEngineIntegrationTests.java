package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockException;
import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.store.LockStore;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The engine on a real Redis and a network that fails.
 */
@Timeout(120)
class RedisEngineIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(4);

	private final RedisServer server = RedisServer.shared();

	private final LockSettings settings = LockSettings.builder()
		.lease(LEASE)
		.shutdownTimeout(Duration.ZERO)
		.waitTime(Duration.ofSeconds(20))
		.build();

	private final String key = "engine/" + UUID.randomUUID();

	private TcpProxy proxy;

	private LockStore store;

	private LeaseLockRegistry registry;

	private LockStore directStore;

	private LeaseLockRegistry direct;

	@BeforeEach
	void start() {
		this.proxy = TcpProxy.to(this.server.host(), this.server.port());
		this.store = HolderProcess.store("redis:127.0.0.1:" + this.proxy.port(), this.settings.commandTimeout());
		this.registry = new LeaseLockRegistry(this.store, this.settings);
		this.directStore = HolderProcess.store("redis:" + this.server.host() + ":" + this.server.port(),
				Patience.COMMAND);
		this.direct = new LeaseLockRegistry(this.directStore, this.settings);
	}

	@AfterEach
	void stop() {
		if (this.registry != null) {
			this.registry.close();
			this.store.close();
		}
		if (this.direct != null) {
			this.direct.close();
			this.directStore.close();
		}
		this.proxy.close();
	}

	private boolean isFree() {
		Optional<LockHandle> handle = this.direct.tryAcquire(this.key, Duration.ZERO);
		handle.ifPresent(LockHandle::release);
		return handle.isPresent();
	}

	@Test
	void b1LostRepliesLeakNoLock() {
		this.registry.acquire(this.key).release();
		for (int i = 0; i < 10; i++) {
			this.proxy.dropReplies(1 + i % 3);
			LockHandle handle = this.registry.acquire(this.key);
			assertThat(handle.isValid()).isTrue();
			assertThat(isFree()).isFalse();
			this.proxy.dropReplies(i % 2);
			handle.release();
			this.proxy.dropReplies(0);
			Awaitility.await().until(this::isFree);
		}
	}

	@Test
	void r1LateReplyShortensTheValidity() {
		this.registry.acquire(this.key).release();
		this.proxy.delayReplies(Duration.ofMillis(150));
		LockHandle handle = this.registry.acquire(this.key);
		assertThat(handle.remaining()).isLessThan(LEASE.minusMillis(150));
		this.proxy.delayReplies(Duration.ZERO);
		handle.release();
	}

	@Test
	void lockOnSilentNetworkIsLostAtTheLocalDeadline() throws Exception {
		LockHandle handle = this.registry.acquire(this.key);
		this.proxy.discard(true);
		LockHandle successor = this.direct.acquire(this.key);
		assertThat(handle.isValid()).as("P1").isFalse();
		assertThat(successor.token()).isGreaterThan(handle.token());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		assertThat(successor.isValid()).isTrue();
		successor.release();
		this.proxy.discard(false);
		this.proxy.cutAll();
		this.registry.acquire(this.key).release();
	}

	@Test
	void r28AcquireOnSilentNetworkFailsInTimeAndIsRevokedLater() {
		this.registry.acquire(this.key).release();
		this.proxy.blackHole(true);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry
			.acquire(LockRequest.builder(this.key).lease(Duration.ofSeconds(60)).waitTime(Duration.ZERO).build()));
		this.proxy.blackHole(false);
		Awaitility.await().until(this::isFree);
	}

	@Test
	void r50InterruptedAcquireOnSilentNetworkIsRevokedLater() throws Exception {
		this.registry.acquire(this.key).release();
		this.proxy.blackHole(true);
		CompletableFuture<Throwable> failure = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				this.registry.acquire(LockRequest.builder(this.key).lease(Duration.ofSeconds(60)).build()).release();
				failure.complete(null);
			}
			catch (LockException ex) {
				failure.complete(ex);
			}
		});
		this.proxy.resetCounters();
		thread.start();
		Awaitility.await().until(() -> this.proxy.roundTrips() > 0);
		thread.interrupt();
		assertThat(failure).succeedsWithin(Patience.EVENTUALLY)
			.satisfies((ex) -> assertThat(ex).isInstanceOf(LockInterruptedException.class));
		this.proxy.blackHole(false);
		Awaitility.await().until(this::isFree);
	}

	/**
	 * The connection ends in the middle of the answers, and the process gets no other.
	 */
	@Test
	void setOfAProcessThatDiesInTheMiddleIsTakenForOneLease() {
		Duration lease = Duration.ofSeconds(5);
		LockRequest once = LockRequest.builder("set").lease(lease).renew(false).waitTime(Duration.ofSeconds(3)).build();
		List<String> keys = IntStream.range(100, 132).mapToObj((i) -> this.key + "/" + i).toList();
		this.registry.acquireAll(once, keys).release();
		this.proxy.refuse(true);
		this.proxy.cutRepliesAfter(100);
		CompletableFuture<LockSet> dying = this.registry.acquireAllAsync(once, keys);
		Awaitility.await().until(() -> this.direct.find(keys.get(0)).isPresent());
		assertThat(keys.stream().flatMap((each) -> this.direct.find(each).stream()))
			.allSatisfy((taken) -> assertThat(Duration.between(taken.since(), taken.until()))
				.isLessThan(lease.plusMillis(100)));
		this.direct.acquireAll(keys).release();
		assertThat(dying).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
	}

	@Test
	void renewalSurvivesCutConnections() {
		Duration lease = LEASE.multipliedBy(3);
		LockHandle handle = this.registry.acquire(LockRequest.builder(this.key).lease(lease).build());
		// two renewals are due meanwhile, and on a busy machine each may be cut
		long end = System.nanoTime() + lease.multipliedBy(3).dividedBy(4).toNanos();
		Awaitility.await().pollInterval(Duration.ofMillis(300)).until(() -> {
			this.proxy.cutAll();
			assertThat(handle.isValid()).isTrue();
			assertThat(isFree()).isFalse();
			return System.nanoTime() > end;
		});
		Awaitility.await()
			.until(() -> !handle.isValid() || handle.remaining().compareTo(lease.multipliedBy(3).dividedBy(4)) > 0);
		handle.release();
		Awaitility.await().until(this::isFree);
	}

	@Test
	void emptyRestartedServerGrantsHigherTokens() {
		try (RedisServer own = RedisServer.start();
				LockStore ownStore = HolderProcess.store("redis:127.0.0.1:" + own.port(),
						this.settings.commandTimeout());
				LeaseLockRegistry restarting = new LeaseLockRegistry(ownStore, this.settings)) {
			LockHandle before = restarting.acquire(this.key);
			own.kill();
			own.restart();
			Awaitility.await().until(() -> !before.isValid());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(before::release);
			LockHandle after = restarting.acquire(this.key);
			assertThat(after.token()).isGreaterThan(before.token());
			after.release();
		}
	}

}
