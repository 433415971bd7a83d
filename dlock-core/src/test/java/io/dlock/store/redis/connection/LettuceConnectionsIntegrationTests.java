package io.dlock.store.redis.connection;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LettuceConnectionsIntegrationTests {

	/**
	 * Threads that waited for answers of the former connection may wake up late.
	 */
	@Test
	void failuresOfABrokenConnectionDoNotReplaceTheNext() {
		RedisServer server = RedisServer.shared();
		LettuceConnectionFactory factory = LettuceFactories.create(server.host(), server.port());
		try (RedisConnections connections = Objects
			.requireNonNull(LettuceConnections.like(factory, Patience.COMMAND, null))) {
			LettuceScriptConnection connection = (LettuceScriptConnection) connections.open();
			for (int i = 0; i < 3; i++) {
				connections.failed(new RedisException("Connection disconnected"));
			}
			Awaitility.await().during(Duration.ofMillis(200)).until(connection::isOpen);
			for (int i = 0; i < 3; i++) {
				connections.failed(new RedisCommandTimeoutException("No answer"));
			}
			Awaitility.await().until(() -> !connection.isOpen());
		}
		finally {
			factory.destroy();
		}
	}

	private static void call(RedisServer server, String command, String... arguments) {
		LettuceFactories.call(new RedisStandaloneConfiguration(server.host(), server.port()), command, arguments);
	}

	/**
	 * The other side of a partition has a new master. The former one answers, but writes
	 * nothing without its replicas.
	 */
	@Test
	void masterWithoutItsReplicasIsLeftForTheOneThatSentinelsName() {
		RedisServer former = RedisServer.start();
		RedisServer next = RedisServer.start();
		RedisServer sentinel = RedisServer
			.startSentinel(List.of("sentinel monitor primary 127.0.0.1 " + former.port() + " 1"));
		LettuceConnectionFactory factory = LettuceFactories
			.create(new RedisSentinelConfiguration("primary", Set.of(sentinel.host() + ":" + sentinel.port())));
		try (RedisLockStore store = new RedisLockStore(factory,
				RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND))) {
			AcquireCommand command = new AcquireCommand("key", "owner", Duration.ofMinutes(1), "a test", "");
			assertThat(store.acquire(command)).isInstanceOf(Granted.class);
			call(sentinel, "SENTINEL", "REMOVE", "primary");
			call(sentinel, "SENTINEL", "MONITOR", "primary", next.host(), Integer.toString(next.port()), "1");
			call(former, "CONFIG", "SET", "min-replicas-to-write", "1");
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> store.acquire(command))
				.withMessageContaining("NOREPLICAS");
			Awaitility.await()
				.ignoreException(StoreException.class)
				.until(() -> store.acquire(command) instanceof Granted);
		}
		finally {
			factory.destroy();
			Stream.of(sentinel, former, next).forEach(RedisServer::close);
		}
	}

	/**
	 * The server accepts the connection and says nothing.
	 */
	@Test
	void interruptEndsTheWaitForAConnectionAndIsKept() throws IOException {
		ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		LettuceConnectionFactory factory = LettuceFactories.create("127.0.0.1", silent.getLocalPort());
		try (RedisConnections connections = Objects
			.requireNonNull(LettuceConnections.like(factory, Patience.COMMAND, null)); silent) {
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(StoreException.class).isThrownBy(connections::open)
				.withCauseInstanceOf(InterruptedException.class);
			assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
		}
		finally {
			Thread.interrupted();
			factory.destroy();
		}
	}

	/**
	 * The calls after a short break of the connection wait for it again.
	 */
	@Test
	void reconnectThatWasSlowIsForgottenWhenTheServerAnswers() {
		RedisServer server = RedisServer.shared();
		RedisException rejected = new RedisException("Currently not connected. Commands are rejected.");
		TcpProxy proxy = TcpProxy.to(server.host(), server.port());
		LettuceConnectionFactory factory = LettuceFactories.create("127.0.0.1", proxy.port());
		try (proxy; RedisConnections connections = connected(factory)) {
			proxy.refuse(true);
			proxy.cutAll();
			Awaitility.await().until(() -> isRefused(connections) && !connections.mayRepeat(rejected, 0));
			proxy.heal();
			Awaitility.await().until(() -> !isRefused(connections));
			Awaitility.await().until(() -> {
				connections.answered();
				return connections.mayRepeat(rejected, 0);
			});
		}
		finally {
			factory.destroy();
		}
	}

	private static RedisConnections connected(LettuceConnectionFactory factory) {
		RedisConnections connections = Objects
			.requireNonNull(LettuceConnections.like(factory, Duration.ofMillis(400), null));
		Awaitility.await().until(() -> !isRefused(connections));
		return connections;
	}

	private static boolean isRefused(RedisConnections connections) {
		try {
			return !((LettuceScriptConnection) connections.open()).isOpen();
		}
		catch (StoreException ex) {
			return true;
		}
	}

}
