package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Failed;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.redis.RedisClusterIntegrationTests.Client;
import io.dlock.store.redis.RedisClusterIntegrationTests.Clustered;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Locks that replicas or the disk have to acknowledge, on a master with a replica that
 * stands still for a while.
 */
@Timeout(240)
class RedisAcknowledgementIntegrationTests extends AbstractRedisAcknowledgementTests {

	@ParameterizedTest
	@EnumSource
	void lockThatIsGrantedIsOnTheReplica(Client client) {
		RedisServer replica = replica();
		RedisLockStore store = store(client, BY_ONE);
		store.verify();
		for (int i = 0; i < 50; i++) {
			String name = new String(RedisKeys.of("dlock", "key" + i).lock());
			assertThat(store.acquire(command("key" + i, "a"))).isInstanceOf(Granted.class);
			assertThat(RedisClusterIntegrationTests.call(replica, "HGET", name, "owner")).isEqualTo("a!");
		}
		assertThat(store.acquire(command("shared", "+a"))).isInstanceOf(Granted.class);
		assertThat(store.acquire(command("shared", "+b"))).isInstanceOf(Granted.class);
		assertThat(store.renew(renewals("key0", "a", "shared", "+a", "key1", "x"))).containsExactly(RenewResult.RENEWED,
				RenewResult.RENEWED, RenewResult.REFUSED);
		assertThat(store.inspection().diagnose().warnings()).noneMatch((warning) -> warning.contains("acknowledge"));
	}

	private static List<RenewCommand> renewals(String... keysAndOwners) {
		return IntStream.range(0, keysAndOwners.length / 2)
			.mapToObj((i) -> new RenewCommand(keysAndOwners[2 * i], keysAndOwners[2 * i + 1], LEASE))
			.toList();
	}

	/**
	 * Refusals, releases and reads need no acknowledgement.
	 */
	@ParameterizedTest
	@EnumSource
	void nothingIsGrantedOrRenewedWithoutTheReplica(Client client) {
		RedisServer replica = replica();
		RedisLockStore patient = store(client, BY_ONE);
		RedisLockStore store = store(client, HURRIED);
		assertThat(patient.acquire(command("held", "a"))).isInstanceOf(Granted.class);
		assertThat(patient.acquire(command("shared", "+a"))).isInstanceOf(Granted.class);
		replica.pause();
		assertThat(unacknowledged(store, "a", "a")).hasMessage(
				"0 of 1 replicas acknowledged the lock within 300 ms, so that a failover may forget it: check that the replicas are connected and keep up");
		unacknowledged(store, "shared", "+b");
		assertThat(store.acquireAll(List.of(command("b", "b"), command("held", "b"), command("c", "b"))))
			.hasExactlyElementsOfTypes(Failed.class, Refused.class, Failed.class);
		assertThat(store.renew(renewals("held", "a", "shared", "+a", "held", "x"))).containsExactly(RenewResult.UNKNOWN,
				RenewResult.UNKNOWN, RenewResult.REFUSED);
		assertThat(store.acquire(command("held", "b"))).isInstanceOf(Refused.class);
		assertThat(store.release("c", "b")).isTrue();
		assertThat(store.find("a")).as("not revoked yet").isPresent();
		replica.resume();
		Awaitility.await()
			.ignoreExceptionsInstanceOf(StoreException.class)
			.until(() -> store.acquire(command("a", "a")) instanceof Granted);
		MachineWatch.repeatIfLate(
				() -> assertThat(store.renew(renewals("held", "a", "shared", "+a"))).containsOnly(RenewResult.RENEWED));
	}

	/**
	 * On newer servers a connection waits for its own writes only. Redis 7.0 waits for
	 * all that came before.
	 */
	@ParameterizedTest
	@CsvSource({ "LETTUCE,a", "JEDIS,a", "LETTUCE,+a", "JEDIS,+a" })
	void repeatedAcquireOnAnotherConnectionIsNotAcknowledgedEither(Client client, String owner) {
		RedisServer replica = replica();
		RedisLockStore store = store(client, HURRIED);
		store.verify();
		replica.pause();
		unacknowledged(store, "a", owner);
		RedisLockStore other = store(client, HURRIED);
		AcquireCommand shorter = new AcquireCommand("a", owner, LEASE.dividedBy(2), "holder", "", null, false, null, 9);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> other.acquire(shorter))
			.withMessageContaining("0 of 1 replicas");
		assertThat(other.renew(List.of(new RenewCommand("a", owner, LEASE.dividedBy(2)))))
			.containsExactly(RenewResult.UNKNOWN);
	}

	/**
	 * All threads share a connection of Lettuce, and the pool of Jedis has eight.
	 */
	@ParameterizedTest
	@EnumSource
	void manyCallsShareTheWaitForAReplica(Client client) {
		RedisServer replica = replica();
		RedisLockStore store = store(client, HURRIED);
		store.verify();
		replica.pause();
		ExecutorService threads = Executors.newFixedThreadPool(80);
		try {
			long begin = System.nanoTime();
			List<CompletableFuture<StoreException>> failures = IntStream.range(0, 80)
				.mapToObj((i) -> CompletableFuture.supplyAsync(() -> unacknowledged(store, "key" + i, "a"), threads))
				.toList();
			assertThat(failures).allSatisfy((failure) -> assertThat(failure).succeedsWithin(Patience.EVENTUALLY));
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(HURRIED.timeout().multipliedBy(60));
		}
		finally {
			threads.shutdownNow();
		}
	}

	@ParameterizedTest
	@EnumSource
	void lockThatIsGrantedIsOnTheDisk(Client client) {
		RedisServer durable = opened(RedisServer.start("--appendonly", "yes", "--appendfsync", "everysec"));
		Assumptions.assumeFalse(RedisClusterIntegrationTests.call(durable, "INFO", "server")
			.matches("(?s).*redis_version:(6|7\\.0).*"));
		RedisLockStore store = store(new RedisStandaloneConfiguration(durable.host(), durable.port()), client,
				Patience.COMMAND, BY_DISK);
		store.verify();
		assertThat(store.acquire(command("a", "a"))).isInstanceOf(Granted.class);
		assertThat(store.renew(renewals("a", "a", "a", "b"))).containsExactly(RenewResult.RENEWED, RenewResult.REFUSED);
		RedisLockStore hurried = store(new RedisStandaloneConfiguration(durable.host(), durable.port()), client,
				Patience.COMMAND, RedisAcknowledgement.byFsync(Duration.ofMillis(1)));
		assertThat(unacknowledged(hurried, "b", "b")).hasMessageContaining("has not written the lock to its disk");
	}

	/**
	 * An unanswered wait keeps no other from being sent.
	 */
	@ParameterizedTest
	@EnumSource
	void locksAreGrantedAgainAfterTheServerWasSilent(Client client) {
		replica();
		TcpProxy proxy = opened(TcpProxy.to(this.master.host(), this.master.port()));
		RedisLockStore store = Patience.connected(store(new RedisStandaloneConfiguration("127.0.0.1", proxy.port()),
				client, Duration.ofSeconds(1), HURRIED));
		proxy.blackHoleReplies(true);
		for (int i = 0; i < 4; i++) {
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> store.acquire(command("a", "a")));
		}
		proxy.blackHoleReplies(false);
		proxy.cutAll();
		Awaitility.await()
			.ignoreExceptionsInstanceOf(StoreException.class)
			.until(() -> store.acquire(command("a", "a")) instanceof Granted);
	}

	/**
	 * The client has read the topology too early.
	 */
	@Test
	void slotWithoutANodeIsLookedForAgain() {
		RedisServer node = opened(
				RedisServer.start("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"));
		RedisClusterIntegrationTests.slots(node, "ADDSLOTS", 0, 8192);
		String key = IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> "key" + i)
			.filter((each) -> !RedisClusterIntegrationTests.isOnFirst(each))
			.findFirst()
			.orElseThrow();
		try (Clustered clustered = new Clustered(node, Client.LETTUCE, Patience.COMMAND, HURRIED)) {
			awaitFailure(clustered, key, "No node of the cluster has the slot");
			RedisClusterIntegrationTests.slots(node, "ADDSLOTS", 8192, 16384);
			awaitFailure(clustered, key, "0 of 1 replicas");
		}
	}

	private static void awaitFailure(Clustered clustered, String key, String message) {
		Awaitility.await()
			.untilAsserted(() -> assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> clustered.store().acquire(command(key, "a")))
				.withMessageContaining(message));
	}

	/**
	 * Each node answers for its own locks.
	 */
	@ParameterizedTest
	@EnumSource
	void nodesOfAClusterAcknowledgeTheirOwnLocks(Client client) {
		String[] node = { "--repl-diskless-sync-delay", "0", "--cluster-enabled", "yes",
				"--cluster-require-full-coverage", "no", "--cluster-node-timeout", "60000" };
		List<RedisServer> nodes = IntStream.range(0, 4).mapToObj((i) -> opened(RedisServer.start(node))).toList();
		RedisClusterIntegrationTests.slots(nodes.get(0), "ADDSLOTS", 0, 8192);
		RedisClusterIntegrationTests.slots(nodes.get(1), "ADDSLOTS", 8192, 16384);
		nodes.subList(1, 4)
			.forEach((each) -> RedisClusterIntegrationTests.call(nodes.get(0), "CLUSTER", "MEET", each.host(),
					Integer.toString(each.port())));
		for (int i = 0; i < 2; i++) {
			String master = RedisClusterIntegrationTests.call(nodes.get(i), "CLUSTER", "MYID");
			RedisServer replica = nodes.get(i + 2);
			Awaitility.await()
				.ignoreExceptions()
				.until(() -> RedisClusterIntegrationTests.call(replica, "CLUSTER", "REPLICATE", master).equals("OK"));
			nodes.get(i).awaitReplicas();
		}
		Awaitility.await()
			.untilAsserted(() -> assertThat(RedisClusterIntegrationTests.call(nodes.get(0), "CLUSTER", "INFO"))
				.contains("cluster_state:ok", "cluster_slots_ok:16384"));
		try (Clustered clustered = new Clustered(nodes.get(0), client, Patience.COMMAND, HURRIED)) {
			RedisLockStore store = Patience.connected(clustered.store());
			List<AcquireCommand> commands = IntStream.range(0, 30).mapToObj((i) -> command("key" + i, "a")).toList();
			Awaitility.await()
				.untilAsserted(() -> assertThat(store.acquireAll(commands)).allMatch(Granted.class::isInstance));
			MachineWatch.repeatIfLate(() -> assertThat(store.acquire(command("one", "a"))).isInstanceOf(Granted.class));
			List<RenewCommand> renewals = commands.stream()
				.map((command) -> new RenewCommand(command.key(), "a", LEASE))
				.toList();
			nodes.get(3).pause();
			MachineWatch.repeatIfLate(() -> {
				List<AcquireResult> results = store.acquireAll(commands);
				List<RenewResult> renewed = store.renew(renewals);
				for (int i = 0; i < commands.size(); i++) {
					boolean up = RedisClusterIntegrationTests.isOnFirst(commands.get(i).key());
					assertThat(results.get(i)).isInstanceOf(up ? Granted.class : Failed.class);
					assertThat(renewed.get(i)).isEqualTo(up ? RenewResult.RENEWED : RenewResult.UNKNOWN);
				}
			});
			nodes.get(3).resume();
			Awaitility.await().untilAsserted(() -> assertThat(store.renew(renewals)).containsOnly(RenewResult.RENEWED));
			RedisClusterIntegrationTests.move(nodes.get(0), nodes.get(1),
					RedisClusterIntegrationTests.slot(commands.stream()
						.map(AcquireCommand::key)
						.filter(RedisClusterIntegrationTests::isOnFirst)
						.findFirst()
						.orElseThrow()));
			Awaitility.await().untilAsserted(() -> assertThat(store.renew(renewals)).containsOnly(RenewResult.RENEWED));
		}
	}

}
