package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreInspection;
import io.dlock.test.DocsPage;
import io.dlock.test.JedisFactories;
import io.dlock.test.LettuceFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * R54: the store as a Redis user that may do what {@code docs/operations.md} says and
 * nothing else.
 */
class RedisAclLockStoreIntegrationTests extends LettuceLockStoreIntegrationTests {

	private static final String PASSWORD = "secret";

	private static final List<String> LINES = DocsPage.of("operations.md").lines("ACL SETUSER dlock ");

	@Override
	String user() {
		return "dlock";
	}

	@Override
	RedisConnectionFactory createApplicationFactory(String host, int port) {
		onServer((connection) -> {
			enter(connection, LINES.get(0));
			enter(connection, LINES.get(2));
		});
		return LettuceFactories.create(configuration(host, port));
	}

	/**
	 * The first line of the page is all that locks need, and takes everything else away.
	 */
	private void onlyLocks() {
		onServer((connection) -> enter(connection, LINES.get(0)));
	}

	@Test
	void r19UserWithoutTheRightToScanHasLocks() {
		onlyLocks();
		long token = granted(acquire("a", LEASE));
		StoreInspection inspection = store().inspection();
		assertThat(inspection).isNotNull();
		int connections = proxy().openConnections();
		for (int i = 0; i < 10; i++) {
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> inspection.list(10))
				.withMessageContaining("+scan")
				.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE))
				.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue());
			assertThat(inspection.diagnose().warnings()).singleElement().asString().contains("+info");
		}
		assertThat(proxy().openConnections()).as("no reason for another connection").isEqualTo(connections);
		assertThat(inspection.findStored(key())).isPresent();
		assertThat(inspection.forceRelease(key(), token)).isTrue();
		granted(acquire("b", LEASE));
	}

	@Test
	void exclusiveLocksNeedNoMoreThanWithoutMembers() {
		onlyLocks();
		onServer((connection) -> enter(connection, "ACL SETUSER dlock -hgetall -hdel"));
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		AcquireCommand queueing = new AcquireCommand(key(), "b", LEASE, "holder", "", address, true, null);
		long token = granted(acquire("a", LEASE));
		assertThat(store().acquire(queueing)).isInstanceOf(Refused.class);
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.RENEWED);
		assertThat(store().find(key())).isPresent();
		store().leave(key(), address);
		assertThat(store().acquire(queueing)).isInstanceOf(Refused.class);
		assertThat(store().inspection().forceRelease(key(), token)).isTrue();
		store().leave(key(), address);
		granted(acquire("c", LEASE));
		assertThat(store().release(key(), "c")).isTrue();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire("+a", LEASE))
			.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue())
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
	}

	/**
	 * The second line of the page allows what the client of a cluster needs.
	 */
	@Override
	RedisConnectionFactory createClusterConnectionFactory(String host, int port) {
		RedisConnectionFactory admin = createConnectionFactory(host, port);
		try (RedisConnection connection = admin.getConnection()) {
			enter(connection, LINES.get(0));
			enter(connection, LINES.get(1));
		}
		finally {
			destroy(admin);
		}
		RedisClusterConfiguration cluster = new RedisClusterConfiguration(List.of(host + ":" + port));
		cluster.setUsername(user());
		cluster.setPassword(PASSWORD);
		return LettuceFactories.create(cluster);
	}

	private RedisStandaloneConfiguration configuration(String host, int port) {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(host, port);
		configuration.setUsername(user());
		configuration.setPassword(PASSWORD);
		return configuration;
	}

	private static Object enter(RedisConnection connection, String line) {
		String[] words = line.replace(">SECRET", ">" + PASSWORD).split(" ");
		byte[][] arguments = Arrays.stream(words)
			.skip(1)
			.map((word) -> word.replace('_', ' ').getBytes(StandardCharsets.UTF_8))
			.toArray(byte[][]::new);
		return connection.execute(words[0], arguments);
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET other:x", "SET other:x 1", "DEL other:x", "GET dlock:x", "HKEYS dlock:x", "FLUSHALL",
			"FLUSHDB", "KEYS *", "SCAN 0", "CONFIG GET maxmemory", "SCRIPT FLUSH", "ACL LIST", "CLIENT LIST",
			"DEBUG SLEEP 0", "PUBLISH other 1", "PUBLISH dlock:other 1", "PSUBSCRIBE *",
			"EVAL return_redis.call('SET','other:x','1') 0", "EVAL return_redis.call('SET',KEYS[1],'1') 1 other:x",
			"EVAL return_redis.call('FLUSHALL') 0", "EVAL return_redis.call('PUBLISH','other','1') 0" })
	void r54UserOfTheLocksMayDoNothingElse(String command) {
		onlyLocks();
		RedisServer server = RedisServer.shared();
		LettuceConnectionFactory restricted = LettuceFactories.create(configuration(server.host(), server.port()));
		try (RedisConnection connection = restricted.getConnection()) {
			Throwable failure = catchThrowable(() -> enter(connection, command));
			assertThat(failure).as("in a script, Redis says it in words")
				.rootCause()
				.message()
				.containsAnyOf("NOPERM", "The user executing the script can't", "ACL failure in script",
						"DEBUG command not allowed");
		}
		finally {
			restricted.destroy();
		}
	}

	@Test
	void r54JedisNeedsNoMore() {
		onlyLocks();
		RedisServer server = RedisServer.shared();
		JedisConnectionFactory jedis = JedisFactories
			.start(new JedisConnectionFactory(configuration(server.host(), server.port())));
		List<String> told = new CopyOnWriteArrayList<>();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (RedisLockStore store = new RedisLockStore(jedis, patient());
				Mailbox mailbox = store.openMailbox(address, told::add)) {
			assertThat(mailbox).isNotNull();
			store.verify();
			granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			AcquireCommand queueing = new AcquireCommand(key(), "b", LEASE, "holder", "", address, true, null);
			assertThat(store.acquire(queueing)).isInstanceOf(Refused.class);
			assertThat(store.renew(List.of(new RenewCommand(key(), "a", LEASE)))).containsExactly(RenewResult.RENEWED);
			assertThat(store.find(key())).isPresent();
			assertThat(store.release(key(), "a")).isTrue();
			Awaitility.await().until(() -> !told.isEmpty());
			granted(store.acquire(queueing));
			assertThat(store.release(key(), "b")).isTrue();
		}
		finally {
			jedis.destroy();
		}
	}

}
