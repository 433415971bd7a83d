package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Renewals of many leases at once, for every client.
 */
abstract class AbstractRedisRenewalTests extends AbstractRedisMailboxTests {

	@Test
	void renewalsThatGetNoAnswerOpenANewConnection() {
		try (RedisLockStore store = atSilentServer()) {
			int before = proxy().openConnections();
			for (int i = 0; i < 4; i++) {
				assertThat(store.renew(batch(2))).containsOnly(RenewResult.UNKNOWN);
			}
			Awaitility.await().until(() -> proxy().openConnections() > before);
			proxy().blackHole(false);
		}
	}

	/**
	 * The replies are held back, so that a client that waits for one is noticed.
	 */
	@Test
	void tenThousandLeasesAreRenewedInAFewRoundTrips() {
		List<RenewCommand> batch = batch(10_000);
		store().renew(batch.subList(0, 1));
		proxy().delayReplies(Duration.ofMillis(50));
		proxy().resetCounters();
		assertThat(store().renew(batch)).hasSize(10_000).containsOnly(RenewResult.REFUSED);
		assertThat(proxy().roundTrips()).isLessThanOrEqualTo(20);
	}

	@Test
	void membersAndExclusiveOwnersAreRenewedInOneRoundTrip() {
		acquire("x", LEASE);
		String shared = key() + "/shared";
		granted(store().acquire(new AcquireCommand(shared, "+a", LEASE, "holder", "")));
		List<RenewCommand> both = List.of(new RenewCommand(shared, "+a", LEASE), new RenewCommand(key(), "x", LEASE),
				new RenewCommand(shared, "+b", LEASE));
		store().renew(both);
		proxy().delayReplies(Duration.ofMillis(50));
		proxy().resetCounters();
		assertThat(store().renew(both)).containsExactly(RenewResult.RENEWED, RenewResult.RENEWED, RenewResult.REFUSED);
		assertThat(proxy().roundTrips()).isEqualTo(1);
	}

	private List<RenewCommand> batch(int size) {
		return IntStream.range(0, size).mapToObj((i) -> new RenewCommand(key() + "/" + i, "a", LEASE)).toList();
	}

	private void acquireAll(List<RenewCommand> batch) {
		batch.forEach(
				(lease) -> granted(store().acquire(new AcquireCommand(lease.key(), "a", lease.lease(), "holder", ""))));
	}

	@Test
	void b38BatchIsRenewedThoughTheServerForgotTheScript() {
		List<RenewCommand> batch = batch(1500);
		acquireAll(batch);
		onServer((connection) -> connection.scriptingCommands().scriptFlush());
		assertThat(store().renew(batch)).hasSize(1500).containsOnly(RenewResult.RENEWED);
	}

	@Test
	void b38ScriptIsForgottenWhileABatchIsRenewed() throws Exception {
		List<RenewCommand> batch = batch(3000);
		acquireAll(batch);
		AtomicBoolean done = new AtomicBoolean();
		ExecutorService forgetter = Executors.newSingleThreadExecutor();
		Future<?> forgetting = forgetter.submit(() -> onServer((connection) -> {
			while (!done.get()) {
				connection.scriptingCommands().scriptFlush();
			}
		}));
		try {
			for (int i = 0; i < 5; i++) {
				assertThat(store().renew(batch)).hasSize(3000).containsOnly(RenewResult.RENEWED);
			}
		}
		finally {
			done.set(true);
			forgetting.get();
			forgetter.shutdown();
		}
	}

	@Test
	void errorOfOneLeaseDoesNotAffectTheOthers() {
		List<RenewCommand> batch = batch(5);
		acquireAll(batch);
		onServer((connection) -> connection.stringCommands()
			.set(RedisKeys.of("dlock", batch.get(1).key()).lock(), "something else".getBytes()));
		assertThat(store().renew(batch)).containsExactly(RenewResult.RENEWED, RenewResult.UNKNOWN, RenewResult.RENEWED,
				RenewResult.RENEWED, RenewResult.RENEWED);
	}

	@Test
	void r28RenewalOfManyLeasesAtASilentServerEnds() {
		List<RenewCommand> batch = batch(10_000);
		acquireAll(batch.subList(0, 10));
		try (RedisLockStore store = atSilentServer()) {
			assertTimeoutPreemptively(Patience.EVENTUALLY,
					() -> assertThat(store.renew(batch)).hasSize(10_000).containsOnly(RenewResult.UNKNOWN));
			proxy().blackHole(false);
			Awaitility.await()
				.untilAsserted(() -> assertThat(store.renew(batch.subList(0, 10))).containsOnly(RenewResult.RENEWED));
		}
	}

	@Test
	void clusterTakesRenewalsOfAllSlotsAtOnce() {
		try (RedisServer node = RedisServer.start("--cluster-enabled", "yes")) {
			takeAllSlots(node);
			RedisConnectionFactory cluster = createClusterConnectionFactory(node.host(), node.port());
			try (RedisLockStore clustered = new RedisLockStore(cluster, patient())) {
				Awaitility.await().ignoreExceptions().until(() -> {
					clustered.verify();
					return true;
				});
				List<RenewCommand> batch = batch(100);
				batch.forEach((lease) -> granted(
						clustered.acquire(new AcquireCommand(lease.key(), "a", lease.lease(), "holder", ""))));
				assertThat(clustered.renew(batch)).hasSize(100).containsOnly(RenewResult.RENEWED);
				batch.forEach((lease) -> assertThat(clustered.release(lease.key(), "a")).isTrue());
			}
			finally {
				destroy(cluster);
			}
		}
	}

	/**
	 * The rest of them is sent afterwards.
	 */
	@Test
	void leaseWithoutAnAnswerEndsNoRenewalOfThoseBeyondAThousand() {
		List<RenewCommand> batch = batch(1500);
		RenewCommand last = batch.get(1499);
		acquireAll(List.of(last));
		onServer((connection) -> connection.stringCommands()
			.set(RedisKeys.of("dlock", batch.get(1).key()).lock(), "something else".getBytes()));
		List<RenewResult> results = store().renew(batch);
		assertThat(results.get(1)).isEqualTo(RenewResult.UNKNOWN);
		assertThat(results.get(1499)).isEqualTo(RenewResult.RENEWED);
	}

}
