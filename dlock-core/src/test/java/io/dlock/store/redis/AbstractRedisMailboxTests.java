package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.ReturnType;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Subscriptions that fall silent, and their ends.
 */
abstract class AbstractRedisMailboxTests extends AbstractRedisStoreTests {

	/**
	 * The network has forgotten the connection, so that no end of it tells the process.
	 */
	@Test
	void d6SubscriptionThatFallsSilentIsOpenedAgain() {
		try (RedisLockStore store = impatient()) {
			subscriptionThatFallsSilentIsOpenedAgain(store, proxy());
		}
	}

	@Test
	void d6SubscriptionToAClusterThatFallsSilentIsOpenedAgain() {
		CompletableFuture<TcpProxy> announced = new CompletableFuture<>();
		try (RedisServer node = RedisServer.start(Map.of(), (port) -> {
			announced.complete(TcpProxy.to("127.0.0.1", port));
			return List.of("--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port",
					Integer.toString(announced.join().port()));
		}); TcpProxy address = announced.join()) {
			takeAllSlots(node);
			RedisConnectionFactory cluster = createClusterConnectionFactory("127.0.0.1", address.port());
			try (RedisLockStore clustered = new RedisLockStore(cluster,
					RedisLockStoreSettings.defaults().withCommandTimeout(TIMEOUT))) {
				Awaitility.await().ignoreExceptions().until(() -> {
					clustered.verify();
					return true;
				});
				subscriptionThatFallsSilentIsOpenedAgain(clustered, address);
			}
			finally {
				destroy(cluster);
			}
		}
	}

	final void subscriptionThatFallsSilentIsOpenedAgain(LockStore store, TcpProxy proxy) {
		Set<Thread> before = threadsOfSubscriptions();
		List<String> told = new CopyOnWriteArrayList<>();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		ConditionFactory patiently = Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.ignoreException(StoreException.class);
		try (Mailbox mailbox = patiently.until(() -> store.openMailbox(address, told::add), Objects::nonNull)) {
			assertThat(mailbox).isNotNull();
			patiently.until(() -> isTurnTold(store, address, told));
			assertThat(proxy.silence("SUBSCRIBE")).isPositive();
			patiently.until(() -> !isTurnTold(store, address, told));
			patiently.until(() -> isTurnTold(store, address, told));
			assertThat(told).as("beats are no turns").allMatch((key) -> key.startsWith(key()));
			// the thread of a beat comes and goes
			Awaitility.await("end of the silent subscription")
				.until(() -> threadsOfSubscriptions().stream()
					.filter((thread) -> !before.contains(thread))
					.count() <= 1);
		}
	}

	final boolean isTurnTold(LockStore store, MailboxAddress address, List<String> told) {
		String key = key() + "/" + UUID.randomUUID();
		granted(store.acquire(new AcquireCommand(key, "a", LEASE, "holder", "")));
		assertThat(store.acquire(new AcquireCommand(key, "b", LEASE, "holder", "", address, true, null)))
			.isInstanceOf(Refused.class);
		assertThat(store.release(key, "a")).isTrue();
		try {
			Awaitility.await().atMost(Duration.ofMillis(500)).until(() -> told.contains(key));
			return true;
		}
		catch (ConditionTimeoutException ex) {
			return false;
		}
	}

	@Test
	void d6SubscriptionToAMasterOfASentinelThatFallsSilentIsOpenedAgain() {
		try (RedisServer master = RedisServer.start();
				TcpProxy address = TcpProxy.to(master.host(), master.port());
				RedisServer sentinel = RedisServer
					.startSentinel(List.of("sentinel monitor primary 127.0.0.1 " + address.port() + " 1"))) {
			RedisConnectionFactory factory = createSentinelConnectionFactory(
					new RedisSentinelConfiguration().master("primary").sentinel(sentinel.host(), sentinel.port()));
			try (RedisLockStore store = new RedisLockStore(factory,
					RedisLockStoreSettings.defaults().withCommandTimeout(TIMEOUT))) {
				Awaitility.await().ignoreExceptions().until(() -> {
					store.verify();
					return true;
				});
				subscriptionThatFallsSilentIsOpenedAgain(store, address);
			}
			finally {
				destroy(factory);
			}
		}
	}

	@Test
	void subscriptionThatBreaksLeavesNoConnection() {
		List<String> told = new CopyOnWriteArrayList<>();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (RedisLockStore store = impatient();
				Mailbox mailbox = Awaitility.await()
					.ignoreException(StoreException.class)
					.until(() -> store.openMailbox(address, told::add), Objects::nonNull)) {
			assertThat(mailbox).isNotNull();
			Awaitility.await().ignoreException(StoreException.class).until(() -> isTurnTold(store, address, told));
			int before = proxy().openConnections();
			for (int i = 0; i < 3; i++) {
				killSubscriptions();
				Awaitility.await().ignoreException(StoreException.class).until(() -> isTurnTold(store, address, told));
			}
			Awaitility.await().untilAsserted(() -> assertThat(proxy().openConnections()).isLessThanOrEqualTo(before));
		}
	}

	@Test
	void d6QuietSubscriptionHearsBeats() {
		List<String> told = new CopyOnWriteArrayList<>();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (RedisLockStore store = impatient();
				Mailbox mailbox = Awaitility.await()
					.ignoreException(StoreException.class)
					.until(() -> store.openMailbox(address, told::add), Objects::nonNull)) {
			assertThat(mailbox).isNotNull();
			long before = published();
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> published() >= before + 3);
		}
		assertThat(told).as("beats are no turns").isEmpty();
	}

	/**
	 * Redis answers no beat meanwhile, so that one is under way at the end.
	 */
	@Test
	void closedSubscriptionLeavesNoThread() {
		Set<Thread> before = threadsOfSubscriptions();
		try (RedisLockStore store = impatient()) {
			Mailbox mailbox = Awaitility.await()
				.ignoreException(StoreException.class)
				.until(() -> store.openMailbox(MailboxAddress.create(Duration.ofSeconds(9)), (key) -> {
				}), Objects::nonNull);
			onServer((connection) -> connection.execute("CLIENT", "PAUSE".getBytes(), "60000".getBytes(),
					"WRITE".getBytes()));
			try {
				Awaitility.await()
					.atMost(Duration.ofSeconds(60))
					.pollInterval(Duration.ofMillis(5))
					.until(() -> isBeatUnderWay(before));
				mailbox.close();
				assertThat(isBeatUnderWay(before)).isFalse();
			}
			finally {
				onServer((connection) -> connection.execute("CLIENT", "UNPAUSE".getBytes()));
			}
		}
	}

	@Test
	void subscriptionWithoutAnAnswerIsGivenUp() {
		MailboxAddress failed = MailboxAddress.create(Duration.ofSeconds(9));
		try (RedisLockStore store = impatient()) {
			proxy().silenceAfter("SUBSCRIBE");
			CompletableFuture<?> opening = CompletableFuture.runAsync(() -> open(store, failed));
			Awaitility.await().until(() -> proxy().silence("SUBSCRIBE") > 0);
			assertThat(opening).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.withCauseInstanceOf(StoreException.class);
			proxy().heal();
			assertThatIsNotSubscribed(store, failed);
		}
	}

	static Mailbox open(RedisLockStore store, MailboxAddress address) {
		return Objects.requireNonNull(store.openMailbox(address, (key) -> {
		}));
	}

	/**
	 * The next subscription tells that Redis has executed what came before.
	 */
	final void assertThatIsNotSubscribed(RedisLockStore store, MailboxAddress failed) {
		MailboxAddress next = MailboxAddress.create(Duration.ofSeconds(9));
		try (Mailbox mailbox = Awaitility.await()
			.ignoreException(StoreException.class)
			.until(() -> open(store, next), Objects::nonNull)) {
			assertThat(mailbox).isNotNull();
			Awaitility.await().during(TIMEOUT.multipliedBy(3)).untilAsserted(() -> {
				assertThat(subscribers(next)).isEqualTo(1);
				assertThat(subscribers(failed)).isZero();
			});
		}
	}

	private long subscribers(MailboxAddress address) {
		AtomicLong subscribers = new AtomicLong();
		onServer((connection) -> subscribers.set(Objects.requireNonNull(connection.scriptingCommands()
			.eval("return redis.call('PUBSUB', 'NUMSUB', ARGV[1])[2]".getBytes(), ReturnType.INTEGER, 0,
					("dlock:mail:" + address.value()).getBytes()))));
		return subscribers.get();
	}

	final void killSubscriptions() {
		onServer((connection) -> {
			// Lettuce does not expect a number
			var unused = catchThrowable(
					() -> connection.execute("CLIENT", "KILL".getBytes(), "TYPE".getBytes(), "pubsub".getBytes()));
		});
	}

	private static boolean isBeatUnderWay(Set<Thread> before) {
		return threadsOfSubscriptions().stream()
			.filter((thread) -> !before.contains(thread))
			.anyMatch((thread) -> Stream.of(thread.getStackTrace())
				.anyMatch((frame) -> frame.getMethodName().equals("publish")));
	}

	private static Set<Thread> threadsOfSubscriptions() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("dlock-mailbox-"))
			.collect(Collectors.toSet());
	}

	final long published() {
		AtomicLong calls = new AtomicLong();
		onServer((connection) -> {
			String statistics = connection.serverCommands()
				.info("commandstats")
				.getProperty("cmdstat_publish", "calls=0,");
			calls.set(Long.parseLong(statistics.substring("calls=".length(), statistics.indexOf(','))));
		});
		return calls.get();
	}

}
