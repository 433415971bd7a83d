package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.ReleaseResult;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;
import io.dlock.test.JedisFactories;
import io.dlock.test.LettuceFactories;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A Redis Cluster of two masters, each with half of the slots.
 */
@Timeout(240)
class RedisClusterIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(100);

	private static final String[] NODE = { "--cluster-enabled", "yes", "--cluster-require-full-coverage", "no",
			"--appendonly", "yes" };

	private final List<String> keys = IntStream.range(0, 30).mapToObj((i) -> "key" + i).toList();

	private final RedisServer first = RedisServer.start(NODE);

	private final RedisServer second = RedisServer.start(NODE);

	@BeforeEach
	void formCluster() {
		slots(this.first, "ADDSLOTS", 0, 8192);
		slots(this.second, "ADDSLOTS", 8192, 16384);
		call(this.first, "CLUSTER", "MEET", this.second.host(), Integer.toString(this.second.port()));
		Awaitility.await().untilAsserted(() -> {
			assertThat(call(this.first, "CLUSTER", "INFO")).contains("cluster_state:ok", "cluster_known_nodes:2");
			assertThat(call(this.second, "CLUSTER", "INFO")).contains("cluster_state:ok", "cluster_known_nodes:2");
		});
	}

	@AfterEach
	void stop() {
		this.first.close();
		this.second.close();
	}

	@ParameterizedTest
	@EnumSource
	void r55AllNodesAreLookedAt(Client client) {
		try (Clustered clustered = new Clustered(this.first, client, Patience.COMMAND)) {
			RedisLockStore store = clustered.store();
			acquireAll(store);
			StoredLocks locks = store.inspection().list(100);
			assertThat(locks.locks()).extracting(StoredLock::storageKey).containsExactlyInAnyOrderElementsOf(this.keys);
			assertThat(locks.complete()).isTrue();
			StoredLock lock = locks.locks().get(0);
			assertThat(store.inspection().forceRelease(lock.storageKey(), lock.token())).isTrue();
			assertThat(store.inspection().list(100).locks()).hasSize(29);
			StoreFacts facts = store.inspection().diagnose();
			assertThat(facts.server()).endsWith("2 nodes");
			assertThat(facts.role()).isEqualTo("master");
		}
	}

	/**
	 * A check of the health takes a lock in the rest of the time.
	 */
	@ParameterizedTest
	@EnumSource
	void r19NodeThatHangsIsReportedBeforeACommandTimesOut(Client client) {
		Duration commandTimeout = Duration.ofSeconds(8);
		try (Clustered clustered = new Clustered(this.first, client, commandTimeout)) {
			acquireAll(clustered.store());
			this.second.pause();
			long begin = System.nanoTime();
			String report = report(clustered.store().inspection());
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(commandTimeout);
			assertThat(report).contains("no answer in time");
		}
	}

	/**
	 * Jedis may have asked the node that hangs for the others.
	 */
	private static String report(StoreInspection inspection) {
		try {
			return inspection.diagnose().warnings().toString();
		}
		catch (StoreException ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	@ParameterizedTest
	@EnumSource
	@Timing
	void r28NodeThatHangsCostsOneCommandTimeout(Client client) throws Exception {
		Duration commandTimeout = Duration.ofSeconds(2);
		try (MachineWatch watch = MachineWatch.start();
				Clustered clustered = new Clustered(this.first, client, commandTimeout)) {
			acquireAll(clustered.store());
			String key = this.keys.stream().filter((each) -> !isOnFirst(each)).findFirst().orElseThrow();
			this.second.pause();
			assertThat(watch.time(() -> assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> clustered.store().acquire(new AcquireCommand(key, "another", LEASE, "holder", "")))
				.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN))))
				.isLessThan(commandTimeout.multipliedBy(2));
		}
	}

	@ParameterizedTest
	@EnumSource
	void membersOfAllNodesAreRenewedAndListed(Client client) {
		try (Clustered clustered = new Clustered(this.first, client, Patience.COMMAND)) {
			RedisLockStore store = clustered.store();
			List<RenewCommand> members = this.keys.stream()
				.flatMap((key) -> Stream.of("+a", "+b").map((owner) -> new RenewCommand(key, owner, LEASE)))
				.toList();
			Awaitility.await()
				.ignoreExceptions()
				.untilAsserted(() -> members.forEach((member) -> assertThat(store.acquire(
						new AcquireCommand(member.key(), member.owner(), LEASE, "holder", "", null, false, null, 2)))
					.isInstanceOf(Granted.class)));
			assertThat(store.renew(members)).hasSize(60).containsOnly(RenewResult.RENEWED);
			assertThat(store.inspection().list(100).locks()).hasSize(60);
			members.forEach((member) -> assertThat(store.release(member.key(), member.owner())).isTrue());
			assertThat(store.inspection().list(100).locks()).isEmpty();
		}
	}

	/**
	 * The half of the keys whose node is up is granted, and the other half is unknown.
	 */
	@ParameterizedTest
	@EnumSource
	void batchesOfAllNodesAreAcquiredAndReleased(Client client) {
		try (Clustered clustered = new Clustered(this.first, client, Duration.ofSeconds(2))) {
			RedisLockStore store = clustered.store();
			assertThat(store.supportsBatches()).isTrue();
			Awaitility.await()
				.untilAsserted(() -> assertThat(store.acquireAll(acquires("a"))).hasSize(30)
					.allMatch(Granted.class::isInstance));
			assertThat(store.releaseAll(releases("a"))).hasSize(30).containsOnly(ReleaseResult.RELEASED);
			this.second.kill();
			List<AcquireResult> results = store.acquireAll(acquires("b"));
			List<ReleaseResult> released = store.releaseAll(releases("b"));
			for (int i = 0; i < this.keys.size(); i++) {
				boolean up = isOnFirst(this.keys.get(i));
				assertThat(results.get(i)).isInstanceOf(up ? Granted.class : AcquireResult.Failed.class);
				assertThat(released.get(i)).isEqualTo(up ? ReleaseResult.RELEASED : ReleaseResult.UNKNOWN);
			}
		}
	}

	private List<AcquireCommand> acquires(String owner) {
		return this.keys.stream().map((key) -> new AcquireCommand(key, owner, LEASE, "holder", "")).toList();
	}

	private List<ReleaseCommand> releases(String owner) {
		return this.keys.stream().map((key) -> new ReleaseCommand(key, owner)).toList();
	}

	/**
	 * A process that only renews learns of the move by its renewals.
	 */
	@ParameterizedTest
	@EnumSource
	void r30RenewalsFollowSlotsThatHaveMoved(Client client) {
		try (Clustered clustered = new Clustered(this.first, client, Patience.COMMAND)) {
			acquireAll(clustered.store());
			this.keys.stream()
				.filter(RedisClusterIntegrationTests::isOnFirst)
				.map(RedisClusterIntegrationTests::slot)
				.distinct()
				.forEach((slot) -> move(this.first, this.second, slot));
			Awaitility.await()
				.untilAsserted(() -> assertThat(clustered.store().renew(renewals())).containsOnly(RenewResult.RENEWED));
		}
	}

	/**
	 * The new master does not know the locks, since it has not been a replica.
	 */
	@ParameterizedTest
	@EnumSource
	void r30RenewalsFindTheNewMasterOfSlots(Client client) {
		try (Clustered clustered = new Clustered(this.first, client, Duration.ofSeconds(2))) {
			acquireAll(clustered.store());
			this.second.kill();
			slots(this.first, "DELSLOTS", 8192, 16384);
			slots(this.first, "ADDSLOTS", 8192, 16384);
			Awaitility.await()
				.untilAsserted(() -> assertThat(clustered.store().renew(renewals())).contains(RenewResult.REFUSED)
					.doesNotContain(RenewResult.UNKNOWN));
		}
	}

	@ParameterizedTest
	@EnumSource
	void nodeThatIsDownKeepsNoLeaseOfAnotherFromItsRenewal(Client client) {
		try (Clustered clustered = new Clustered(this.first, client, Duration.ofSeconds(2))) {
			acquireAll(clustered.store());
			this.second.kill();
			for (int i = 0; i < 3; i++) {
				assertThat(clustered.store().renew(renewals())).containsExactlyElementsOf(expected());
			}
		}
	}

	/**
	 * After some calls without an answer the store connects again, and the new connection
	 * reaches only one of the nodes.
	 */
	@Test
	void r5NodeThatOtherCallsAskInVainKeepsNoLeaseOfAnotherFromItsRenewal() {
		try (Clustered clustered = new Clustered(this.first, Client.LETTUCE, Duration.ofSeconds(2))) {
			acquireAll(clustered.store());
			this.second.kill();
			String other = this.keys.stream().filter((key) -> !isOnFirst(key)).findFirst().orElseThrow();
			for (int i = 0; i < 5; i++) {
				for (int call = 0; call < 20; call++) {
					assertThatExceptionOfType(StoreException.class).isThrownBy(
							() -> clustered.store().acquire(new AcquireCommand(other, "another", LEASE, "holder", "")));
				}
				Awaitility.await()
					.untilAsserted(() -> assertThat(clustered.store().renew(renewals()))
						.containsExactlyElementsOf(expected()));
			}
		}
	}

	private List<RenewResult> expected() {
		return this.keys.stream().map((key) -> isOnFirst(key) ? RenewResult.RENEWED : RenewResult.UNKNOWN).toList();
	}

	private void acquireAll(RedisLockStore store) {
		Awaitility.await().ignoreExceptions().untilAsserted(() -> {
			for (String key : this.keys) {
				assertThat(store.acquire(new AcquireCommand(key, "owner", LEASE, "holder", "")))
					.isInstanceOf(Granted.class);
			}
		});
	}

	private List<RenewCommand> renewals() {
		return this.keys.stream().map((key) -> new RenewCommand(key, "owner", LEASE)).toList();
	}

	static boolean isOnFirst(String key) {
		return slot(key) < 8192;
	}

	static int slot(String key) {
		return ClusterSlotHashUtil.calculateSlot(RedisKeys.of("dlock", key).lock());
	}

	/**
	 * Move a slot from one node to another.
	 */
	static void move(RedisServer first, RedisServer second, int slot) {
		String number = Integer.toString(slot);
		String from = call(first, "CLUSTER", "MYID");
		String to = call(second, "CLUSTER", "MYID");
		call(second, "CLUSTER", "SETSLOT", number, "IMPORTING", from);
		call(first, "CLUSTER", "SETSLOT", number, "MIGRATING", to);
		String migrateAll = """
				for _, key in ipairs(redis.call('CLUSTER', 'GETKEYSINSLOT', ARGV[1], 100)) do
					redis.call('MIGRATE', ARGV[2], ARGV[3], key, 0, 5000)
				end
				""";
		call(first, "EVAL", migrateAll, "0", number, second.host(), Integer.toString(second.port()));
		call(second, "CLUSTER", "SETSLOT", number, "NODE", to);
		call(first, "CLUSTER", "SETSLOT", number, "NODE", to);
	}

	/**
	 * Make a cluster of three nodes, each with 5462 slots or so.
	 */
	static void form(List<RedisServer> nodes) {
		for (int i = 0; i < 3; i++) {
			RedisServer node = nodes.get(i);
			slots(node, "ADDSLOTS", i * 5462, Math.min(16384, (i + 1) * 5462));
			call(nodes.get(0), "CLUSTER", "MEET", node.host(), Integer.toString(node.port()));
		}
		Awaitility.await()
			.untilAsserted(() -> assertThat(nodes).allSatisfy((node) -> assertThat(call(node, "CLUSTER", "INFO"))
				.contains("cluster_state:ok", "cluster_known_nodes:3", "cluster_slots_ok:16384")));
	}

	static void slots(RedisServer server, String change, int from, int to) {
		call(server, "CLUSTER", Stream.concat(Stream.of(change), IntStream.range(from, to).mapToObj(Integer::toString))
			.toArray(String[]::new));
	}

	static String call(RedisServer server, String command, String... arguments) {
		return LettuceFactories.call(new RedisStandaloneConfiguration(server.host(), server.port()), command,
				arguments);
	}

	enum Client {

		LETTUCE, JEDIS

	}

	/**
	 * A store with the factory of its application.
	 */
	static final class Clustered implements AutoCloseable {

		private final RedisConnectionFactory application;

		private final RedisLockStore store;

		Clustered(RedisServer server, Client client, Duration commandTimeout) {
			this(server, client, commandTimeout, null);
		}

		Clustered(RedisServer server, Client client, Duration commandTimeout, RedisAcknowledgement acknowledgement) {
			RedisClusterConfiguration configuration = new RedisClusterConfiguration(
					List.of(server.host() + ":" + server.port()));
			this.application = (client == Client.JEDIS) ? jedis(configuration) : LettuceFactories.create(configuration);
			this.store = new RedisLockStore(this.application,
					RedisLockStoreSettings.defaults()
						.withCommandTimeout(commandTimeout)
						.withAcknowledgement(acknowledgement));
		}

		private static JedisConnectionFactory jedis(RedisClusterConfiguration configuration) {
			return JedisFactories.start(new JedisConnectionFactory(configuration));
		}

		RedisLockStore store() {
			return this.store;
		}

		@Override
		public void close() {
			this.store.close();
			if (this.application instanceof JedisConnectionFactory jedis) {
				jedis.destroy();
			}
			if (this.application instanceof LettuceConnectionFactory lettuce) {
				lettuce.destroy();
			}
		}

	}

}
