package io.dlock.store.redis;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.redis.connection.RedisAnswers;
import io.dlock.store.redis.connection.RedisConnections;
import io.dlock.store.redis.connection.RedisConnectionsFactory;
import io.dlock.test.CapturedLog;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A quarantine of a real server: how long it lasts, which buckets and processes it is
 * for, and what the start checks.
 */
@Timeout(240)
class RedisQuarantineIntegrationTests extends AbstractRedisQuarantineTests {

	private static final Duration LONG = Duration.ofMinutes(10);

	private void startCluster(Duration longestLease) {
		this.server = RedisServer.start("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no");
		RedisClusterIntegrationTests.slots(this.server, "ADDSLOTS", 0, 16384);
		this.factory = LettuceFactories
			.create(new RedisClusterConfiguration(List.of(this.server.host() + ":" + this.server.port())));
		this.store = store(this.factory, longestLease);
	}

	private void awaitTheNotesOfAllBuckets() {
		Awaitility.await()
			.until(() -> RedisClusterIntegrationTests
				.call(this.server, "EVAL", "return tostring(#redis.call('KEYS', '*:era'))", "0")
				.equals(Integer.toString(RedisKeys.BUCKETS)));
	}

	@Test
	void firstUseWaitsForTheLongestLeaseAndTheLag() {
		start(LEASE);
		Duration first = quarantined(this.store, "a", "a");
		assertThat(first).isLessThanOrEqualTo(LEASE.plus(LAG).plusMillis(3));
		assertThat(this.store.quarantine()).hasValueSatisfying((rest) -> assertThat(rest).isPositive());
		long begin = System.nanoTime();
		grantedAtLast(this.store, "a", "a");
		assertThat(System.nanoTime() - begin).isGreaterThan(first.toNanos() - TimeUnit.MILLISECONDS.toNanos(50));
		assertThat(acquire(this.store, "a", "b")).isInstanceOf(AcquireResult.Refused.class);
		assertThat(this.store.release("a", "a")).isTrue();
		assertThat(acquire(this.store, "a", "b")).isInstanceOf(AcquireResult.Granted.class);
		Awaitility.await().untilAsserted(() -> assertThat(this.store.quarantine()).hasValue(Duration.ZERO));
	}

	@Test
	void quarantineLastsForTheLagToo() {
		start(LEASE);
		try (RedisLockStore careful = new RedisLockStore(this.factory,
				AbstractRedisStoreTests.patient().withPrefix("careful").withQuarantine(new Quarantine(LEASE, LONG)))) {
			assertThat(quarantined(careful, "a", "a")).isGreaterThan(LONG);
		}
	}

	@Test
	void firstUseBeginsTheQuarantineOfAllBuckets() {
		start(LEASE);
		awaitTheNotesOfAllBuckets();
		grantedAtLast(this.store, "a", "a");
		long begin = System.nanoTime();
		IntStream.range(0, 20).forEach((i) -> grantedAtLast(this.store, "key" + i, "a"));
		assertThat(System.nanoTime() - begin).as("the rest").isLessThan(LEASE.multipliedBy(5).toNanos());
	}

	/**
	 * The slots of a cluster move one after the other. The next visit comes after a tenth
	 * of the quarantine.
	 */
	@Test
	void bucketThatComesLaterBeginsWithoutACall() {
		startCluster(Duration.ofSeconds(60));
		awaitTheNotesOfAllBuckets();
		String note = new String(RedisKeys.era("dlock", 0));
		String era = RedisClusterIntegrationTests.call(this.server, "HGET", note, "era");
		RedisClusterIntegrationTests.call(this.server, "HMSET", note, "era", "that of another node");
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.untilAsserted(() -> assertThat(RedisClusterIntegrationTests.call(this.server, "HGET", note, "era"))
				.isEqualTo(era));
	}

	@Test
	void clusterHasANoteBesideTheLocksOfEachBucket() {
		startCluster(LEASE);
		awaitTheNotesOfAllBuckets();
		grantedAtLast(this.store, "a", "a");
		grantedAtLast(this.store, "b", "+b");
	}

	@ParameterizedTest
	@ValueSource(strings = { "+a", "b" })
	void noKindOfOwnerIsGranted(String owner) {
		start(LONG);
		quarantined(this.store, "a", owner);
		StoreQuarantinedException refusal = catchThrowableOfType(StoreQuarantinedException.class, () -> this.store
			.acquire(new AcquireCommand("a", owner, LEASE, "holder", "", null, false, "+" + owner, 1)));
		assertThat(refusal).isNotNull();
		assertThat(this.store.find("a")).isEmpty();
	}

	/**
	 * Two processes ask a server without a note at the same time, several times.
	 */
	@Test
	void processesShareOneQuarantine() throws Exception {
		start(LONG);
		LettuceConnectionFactory other = LettuceFactories.create(this.server.host(), this.server.port());
		ExecutorService processes = Executors.newFixedThreadPool(2);
		try (RedisLockStore late = store(other, LONG)) {
			for (int i = 0; i < 20; i++) {
				RedisClusterIntegrationTests.call(this.server, "FLUSHALL");
				CyclicBarrier together = new CyclicBarrier(2);
				List<Future<Duration>> rests = Stream.of(this.store, late).map((each) -> processes.submit(() -> {
					together.await();
					return quarantined(each, "a", "a");
				})).toList();
				Duration longest = Collections.max(List.of(rests.get(0).get(), rests.get(1).get()));
				String name = new String(RedisKeys.of("dlock", "a").era());
				String end = RedisClusterIntegrationTests.call(this.server, "HGET", name, "end");
				for (RedisLockStore store : List.of(this.store, late)) {
					assertThat(quarantined(store, "a", "b")).isLessThanOrEqualTo(longest);
				}
				assertThat(RedisClusterIntegrationTests.call(this.server, "HGET", name, "end")).isEqualTo(end);
			}
		}
		finally {
			processes.shutdown();
			other.destroy();
		}
	}

	/**
	 * A longer lease of another process counts, although both should name the same.
	 */
	@Test
	void longestLeaseThatIsNotedCounts() {
		start(LEASE);
		grantedAtLast(this.store, "a", "a");
		LettuceConnectionFactory other = LettuceFactories.create(this.server.host(), this.server.port());
		try (RedisLockStore longer = store(other, LONG)) {
			assertThat(acquire(longer, "a", "a")).isInstanceOf(AcquireResult.Granted.class);
			String name = new String(RedisKeys.of("dlock", "a").era());
			RedisClusterIntegrationTests.call(this.server, "HMSET", name, "era", "another");
			assertThat(quarantined(this.store, "a", "b")).isGreaterThan(LONG.minusMinutes(1));
			assertThat(quarantined(this.store, "a", "b")).as("the next answer").isGreaterThan(LONG.minusMinutes(1));
		}
		finally {
			other.destroy();
		}
	}

	@Test
	void longerLeaseExtendsAQuarantineThatHasBegun() {
		start(Duration.ofSeconds(30));
		quarantined(this.store, "a", "a");
		LettuceConnectionFactory other = LettuceFactories.create(this.server.host(), this.server.port());
		try (RedisLockStore longer = store(other, LONG)) {
			assertThat(quarantined(longer, "a", "b")).isBetween(LONG.minusMinutes(1), LONG.plus(LAG).plusMillis(3));
			assertThat(quarantined(this.store, "a", "a")).isGreaterThan(LONG.minusMinutes(1));
		}
		finally {
			other.destroy();
		}
	}

	/**
	 * The clock of the server was set back.
	 */
	@Test
	void quarantineEndsAlthoughItsEndIsFarAway() {
		start(LEASE);
		grantedAtLast(this.store, "a", "a");
		String name = new String(RedisKeys.of("dlock", "a").era());
		assertThat(RedisClusterIntegrationTests.call(this.server, "HGET", name, "end")).isEqualTo("0");
		RedisClusterIntegrationTests.call(this.server, "HMSET", name, "end", "9000000000000000");
		assertThat(quarantined(this.store, "a", "b")).isLessThanOrEqualTo(LEASE.plus(LAG).plusMillis(3));
	}

	@Test
	void leaseBeyondTheLongestIsRefused() {
		start(LEASE);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.store.acquire(new AcquireCommand("a", "a", LEASE.plusMillis(1), "holder", "")))
			.withMessage(
					"A lease of 4001 ms is longer than the longest lease of 4000 ms, after which the quarantine of the store ends");
	}

	@Test
	void quarantineIsLoggedOnce() {
		try (CapturedLog log = CapturedLog.of(RedisQuarantine.class)) {
			start(LONG);
			IntStream.range(0, 20).forEach((i) -> quarantined(this.store, "key" + i, "a"));
			assertThat(log.messages()).singleElement()
				.asString()
				.contains("has failed over or restarted: it grants no lock for");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void visitThatFailedIsFollowedByTheNext(boolean error) {
		this.server = RedisServer.start();
		this.factory = LettuceFactories.create(this.server.host(), this.server.port());
		AtomicBoolean failed = new AtomicBoolean();
		RedisConnectionFactory unknown = (RedisConnectionFactory) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class }, (proxy, method, arguments) -> {
					boolean afterAVisit = StackWalker.getInstance()
						.walk((frames) -> frames.anyMatch((frame) -> frame.getMethodName().equals("isCluster")));
					if (afterAVisit && failed.compareAndSet(false, true)) {
						if (error) {
							throw new NoClassDefFoundError("com/example/Missing");
						}
						throw new RedisConnectionFailureException("no connection");
					}
					return method.invoke(this.factory, arguments);
				});
		this.store = new RedisLockStore(unknown,
				AbstractRedisStoreTests.patient().withQuarantine(new Quarantine(LONG, LAG)));
		quarantined(this.store, "a", "a");
		Awaitility.await()
			.until(() -> failed.get() && Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().equals("dlock-redis-quarantine")));
		RedisClusterIntegrationTests.call(this.server, "FLUSHALL");
		quarantined(this.store, "a", "b");
		awaitTheNotesOfAllBuckets();
	}

	@Test
	void versionOfTheServerIsAskedFor() {
		this.server = RedisServer.start();
		this.factory = LettuceFactories.create(this.server.host(), this.server.port());
		try (RedisConnections connections = RedisConnectionsFactory.create(this.factory, Patience.COMMAND)) {
			List<?> answer = connections.run("check",
					(connection) -> RedisQuarantineScripts.CHECK.list(connection, new byte[1]));
			assertThat(RedisClusterIntegrationTests.call(this.server, "INFO", "server"))
				.contains("redis_version:" + RedisAnswers.text(answer.get(2)) + "\r\n");
		}
	}

	/**
	 * The guard of the quarantine needs fewer rights than the rest of the script.
	 */
	@Test
	void userWithoutARightOfTheLocksFailsTheStart() {
		this.server = RedisServer.start();
		RedisClusterIntegrationTests.call(this.server, "ACL", "SETUSER", "default", "-pexpire");
		this.factory = LettuceFactories.create(this.server.host(), this.server.port());
		this.store = new RedisLockStore(this.factory,
				AbstractRedisStoreTests.patient().withQuarantine(new Quarantine(LONG, LAG)));
		assertThatExceptionOfType(StoreException.class).isThrownBy(this.store::verify)
			.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue());
	}

	/**
	 * Both have a replica. A former master that needs none grants locks without end.
	 */
	@ParameterizedTest
	@CsvSource({ "0, true", "1, false" })
	void masterThatNeedsNoReplicaFailsTheStart(String needed, boolean fails) {
		start(LONG, "--repl-diskless-sync-delay", "0");
		try (RedisServer replica = RedisServer.start()) {
			RedisClusterIntegrationTests.call(replica, "REPLICAOF", this.server.host(),
					Integer.toString(this.server.port()));
			this.server.awaitReplicas();
			RedisClusterIntegrationTests.call(this.server, "CONFIG", "SET", "min-replicas-to-write", needed);
			RedisClusterIntegrationTests.call(this.server, "ACL", "SETUSER", "default", "-config");
			if (!fails) {
				this.store.verify();
				return;
			}
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(this.store::verify)
				.satisfies((ex) -> assertThat(ex.description()).contains("maximum lag of 500 ms",
						"is not in effect on a Redis with 1 replicas"))
				.satisfies((ex) -> assertThat(ex.action()).contains("min-replicas-to-write", "dlock.failover.max-lag"));
		}
	}

	/**
	 * A former master goes on for the lag and the time in which it notices that its
	 * replicas are gone. The lag does not matter if it needs none.
	 */
	@ParameterizedTest
	@CsvSource({ "1, 3, true", "1, 2, false", "1, 0, false", "0, 10, false" })
	void lagThatIsShorterThanThatOfTheServerFailsTheStart(String needed, String lag, boolean fails) {
		this.server = RedisServer.start("--min-replicas-to-write", needed, "--min-replicas-max-lag", lag);
		this.factory = LettuceFactories.create(this.server.host(), this.server.port());
		try (RedisConnections connections = RedisConnectionsFactory.create(this.factory, Patience.COMMAND)) {
			RedisQuarantine quarantine = new RedisQuarantine(connections, "lag",
					new Quarantine(LONG, Duration.ofMillis(4_999)));
			if (!fails) {
				quarantine.verifyLag();
				return;
			}
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(quarantine::verifyLag)
				.satisfies((ex) -> assertThat(ex.description()).contains("a maximum lag of 4999 ms",
						"min-replicas-max-lag of Redis is 3", "5000 ms"))
				.satisfies((ex) -> assertThat(ex.action()).contains("dlock.failover.max-lag to 5s"));
		}
	}

	@Test
	void userWithoutTheRightToAskForTheStateFailsTheStart() {
		this.server = RedisServer.start();
		RedisClusterIntegrationTests.call(this.server, "ACL", "SETUSER", "default", "-info");
		this.factory = LettuceFactories.create(this.server.host(), this.server.port());
		this.store = new RedisLockStore(this.factory,
				AbstractRedisStoreTests.patient().withQuarantine(new Quarantine(LEASE, LAG)));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(this.store::verify)
			.withMessageContaining("does not let the user of the locks ask for its state")
			.withMessageContaining("+info");
	}

}
