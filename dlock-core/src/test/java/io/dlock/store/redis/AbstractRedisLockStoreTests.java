package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.MachineWatch;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Single locks of Redis behind a proxy and its failures, for every client.
 */
abstract class AbstractRedisLockStoreTests extends AbstractRedisRenewalTests {

	@Test
	void acquireAndReleaseAreTwoRoundTrips() {
		acquire("warm-up", LEASE);
		store().release(key(), "warm-up");
		proxy().resetCounters();
		for (int i = 0; i < 10; i++) {
			granted(acquire("owner", LEASE));
			assertThat(store().release(key(), "owner")).isTrue();
		}
		assertThat(proxy().roundTrips()).isEqualTo(20);
	}

	@Test
	void userWithoutTheRightToPublishCanRelease() {
		MailboxAddress mailbox = MailboxAddress.create(Duration.ofSeconds(9));
		onServer((connection) -> connection.execute("ACL", "SETUSER".getBytes(), user().getBytes(),
				"resetchannels".getBytes()));
		try {
			granted(acquire("a", LEASE));
			assertThat(store().acquire(new AcquireCommand(key(), "b", LEASE, "holder", "", mailbox, true, null)))
				.isInstanceOf(Refused.class);
			assertThat(store().release(key(), "a")).isTrue();
			assertThat(store().acquire(new AcquireCommand(key(), "b", LEASE, "holder", "", mailbox, true, null)))
				.isInstanceOf(Granted.class);
		}
		finally {
			onServer((connection) -> connection.execute("ACL", "SETUSER".getBytes(), user().getBytes(),
					"allchannels".getBytes()));
		}
	}

	@Test
	void r22LockAndFenceShareABucketAndTheLockIsReadable() {
		granted(acquire("owner", LEASE));
		RedisKeys keys = RedisKeys.of("dlock", key());
		assertThat(new String(keys.lock())).matches("dlock:\\{b\\d{3,4}}:lock:" + key());
		assertThat(new String(keys.fence())).matches("dlock:\\{b\\d{3,4}}:fence");
		onServer((connection) -> {
			assertThat(connection.hashCommands().hGet(keys.lock(), "holder".getBytes()))
				.isEqualTo("holder owner".getBytes());
			assertThat(connection.keyCommands().pTtl(keys.lock())).isBetween(1L, LEASE.toMillis());
			assertThat(connection.keyCommands().pTtl(keys.fence())).as("the fence does not expire").isEqualTo(-1);
		});
	}

	@Test
	void r13ReleasedLocksLeaveNothingButABoundedNumberOfFences() {
		onServer((connection) -> connection.serverCommands().flushAll());
		for (int i = 0; i < 3000; i++) {
			store().acquire(new AcquireCommand(key() + i, "owner", LEASE, "holder", ""));
			store().release(key() + i, "owner");
		}
		onServer((connection) -> assertThat(connection.serverCommands().dbSize()).isLessThanOrEqualTo(1024));
	}

	@Test
	void b38ScriptsAreSentAgainAfterTheServerForgotThem() {
		granted(acquire("a", LEASE));
		onServer((connection) -> connection.scriptingCommands().scriptFlush());
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.RENEWED);
		onServer((connection) -> connection.scriptingCommands().scriptFlush());
		assertThat(store().release(key(), "a")).isTrue();
		onServer((connection) -> connection.scriptingCommands().scriptFlush());
		assertThat(granted(acquire("b", LEASE))).isPositive();
	}

	@Test
	void b1LostReplyToAnAcquireIsResolvedByTheOwner() {
		acquire("warm-up", LEASE);
		store().release(key(), "warm-up");
		proxy().dropNextReply();
		Granted granted = Awaitility.await().ignoreException(StoreException.class).until(() -> {
			return (acquire("a", LEASE) instanceof Granted first) ? first : null;
		}, (result) -> result != null);
		assertThat(store().find(key())).hasValueSatisfying(
				(lock) -> assertThat(lock.token()).as("one attempt, one token").isEqualTo(granted.token()));
		assertThat(store().release(key(), "a")).isTrue();
		assertThat(acquire("b", LEASE)).isInstanceOf(Granted.class);
	}

	@Test
	void r28SilentServerIsUnknownWithinTheCommandTimeout() {
		AcquireCommand command = new AcquireCommand(key(), "a", LEASE, "holder", "");
		try (RedisLockStore store = atSilentServer()) {
			StoreException ex = catchThrowableOfType(StoreException.class, () -> store.acquire(command));
			assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
			assertThat(ex.isPermanent()).isFalse();
			assertThat(store.renew(List.of(new RenewCommand(key(), "a", LEASE)))).containsExactly(RenewResult.UNKNOWN);
			proxy().blackHole(false);
			Awaitility.await()
				.ignoreException(StoreException.class)
				.untilAsserted(() -> assertThat(store.acquire(command)).isInstanceOf(Granted.class));
		}
	}

	/**
	 * Found by the torture bed: every caller waited until the caller before it had failed
	 * to open the connection again.
	 */
	@Test
	@Timing
	void r28CallsAtASilentServerDoNotQueueUp() throws Exception {
		ExecutorService callers = Executors.newFixedThreadPool(8);
		try (RedisLockStore store = atSilentServer(); MachineWatch machine = MachineWatch.start()) {
			List<Future<Duration>> longest = IntStream.range(0, 8)
				.mapToObj((i) -> callers.submit(() -> longestOfThreeFailures(store, machine)))
				.toList();
			for (Future<Duration> duration : longest) {
				assertThat(duration.get()).isLessThan(longestCall());
			}
			proxy().blackHole(false);
		}
		finally {
			callers.shutdown();
		}
	}

	/**
	 * A client that connects on the calling thread takes a timeout more.
	 */
	Duration longestCall() {
		return TIMEOUT.multipliedBy(3);
	}

	private Duration longestOfThreeFailures(RedisLockStore store, MachineWatch machine) throws Exception {
		AcquireCommand command = new AcquireCommand(key(), "a", LEASE, "holder", "");
		Duration longest = Duration.ZERO;
		for (int i = 0; i < 3; i++) {
			Duration duration = machine
				.time(() -> assertThatExceptionOfType(StoreException.class).isThrownBy(() -> store.acquire(command)));
			longest = (duration.compareTo(longest) > 0) ? duration : longest;
		}
		return longest;
	}

	@Test
	void cutConnectionIsReplaced() {
		granted(acquire("a", LEASE));
		proxy().cutAll();
		Awaitility.await()
			.ignoreException(StoreException.class)
			.untilAsserted(() -> assertThat(acquire("b", LEASE)).isInstanceOf(Refused.class));
	}

	static List<Arguments> refusals() {
		return List.of(Arguments.of("READONLY", new String[] { "--replicaof", "127.0.0.1", "1" }),
				Arguments.of("OOM", new String[] { "--maxmemory", "1", "--maxmemory-policy", "noeviction" }),
				Arguments.of("NOREPLICAS", new String[] { "--min-replicas-to-write", "1" }),
				Arguments.of("NOAUTH", new String[] { "--requirepass", "secret" }));
	}

	@ParameterizedTest
	@MethodSource("refusals")
	void r30ServerThatCannotServeRefusesAndIsNotBusy(String code, String[] configuration) throws Exception {
		try (RedisServer server = RedisServer.start(configuration)) {
			RedisConnectionFactory factory = createConnectionFactory(server.host(), server.port());
			try (RedisLockStore unable = new RedisLockStore(factory, patient())) {
				assertThatExceptionOfType(StoreException.class).isThrownBy(unable::verify)
					.withMessageContaining(code)
					.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE))
					.satisfies((ex) -> assertThat(ex.isPermanent()).isEqualTo(code.equals("NOAUTH")));
			}
			finally {
				destroy(factory);
			}
		}
	}

	/**
	 * Redis refuses a script in which the first write needs memory.
	 */
	@Test
	void r5LocksAreRenewedAndReleasedByAFullServer() {
		try (RedisServer server = RedisServer.start("--maxmemory-policy", "noeviction")) {
			RedisConnectionFactory factory = createConnectionFactory(server.host(), server.port());
			List<String> owners = List.of("a", "+b", "+c");
			try (RedisLockStore store = new RedisLockStore(factory, patient())) {
				owners.forEach((owner) -> granted(store.acquire(command(owner, owner, LEASE))));
				granted(store.acquire(command("+b", "+longer", LEASE.multipliedBy(2))));
				try (RedisConnection connection = factory.getConnection()) {
					connection.serverCommands().setConfig("maxmemory", "1");
				}
				assertThat(store.renew(owners.stream().map((owner) -> new RenewCommand(owner, owner, LEASE)).toList()))
					.containsOnly(RenewResult.RENEWED);
				assertThat(owners).allMatch((owner) -> store.release(owner, owner));
			}
			finally {
				destroy(factory);
			}
		}
	}

	private static AcquireCommand command(String key, String owner, Duration lease) {
		return new AcquireCommand(key, owner, lease, "holder", "", null, false, null, 2);
	}

	/**
	 * As after a failover: the address leads to the new master, but the connection is
	 * that to the old one, which is a replica now. A pool that checks its idle
	 * connections, every 30 seconds, may meanwhile open another one.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "yes", "no" })
	void f17ConnectionToADemotedMasterIsReplaced(String servesStaleData) {
		try (RedisServer master = RedisServer.start();
				RedisServer demoted = RedisServer.start("--replica-serve-stale-data", servesStaleData);
				TcpProxy address = TcpProxy.to(demoted.host(), demoted.port())) {
			RedisConnectionFactory factory = createConnectionFactory("127.0.0.1", address.port());
			try (RedisLockStore store = new RedisLockStore(factory, patient())) {
				AcquireCommand command = new AcquireCommand(key(), "a", LEASE, "holder", "");
				assertThat(store.acquire(command)).isInstanceOf(Granted.class);
				RedisConnectionFactory administrator = createConnectionFactory(demoted.host(), demoted.port());
				try (RedisConnection connection = administrator.getConnection()) {
					connection.serverCommands().replicaOf("127.0.0.1", 1);
				}
				finally {
					destroy(administrator);
				}
				address.redirect(master.host(), master.port());
				Awaitility.await()
					.atMost(Duration.ofSeconds(20))
					.ignoreException(StoreException.class)
					.untilAsserted(() -> assertThat(store.acquire(command)).isInstanceOf(Granted.class));
			}
			finally {
				destroy(factory);
			}
		}
	}

	@Test
	void foreignValueUnderTheKeyOfALockIsALastingFailure() {
		onServer((connection) -> connection.stringCommands()
			.set(RedisKeys.of("dlock", key()).lock(), "something else".getBytes()));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire("a", LEASE))
			.withMessageContaining("WRONGTYPE")
			.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue());
	}

	@Test
	void unreachableServerIsAFailureWithoutEffect() {
		RedisConnectionFactory nowhere = createConnectionFactory("127.0.0.1", 1);
		try (RedisLockStore store = new RedisLockStore(nowhere,
				RedisLockStoreSettings.defaults().withCommandTimeout(TIMEOUT))) {
			assertThatExceptionOfType(StoreException.class).isThrownBy(store::verify)
				.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
			assertThat(store.renew(List.of(new LockStore.RenewCommand("a", "b", LEASE))))
				.containsExactly(RenewResult.UNKNOWN);
		}
		finally {
			destroy(nowhere);
		}
	}

	@Test
	void closeLeavesNoConnection() {
		granted(acquire("a", LEASE));
		store().close();
		Awaitility.await().untilAsserted(() -> assertThat(proxy().openConnections()).isZero());
	}

}
