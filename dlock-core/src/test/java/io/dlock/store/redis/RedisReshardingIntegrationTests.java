package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.redis.RedisClusterIntegrationTests.Client;
import io.dlock.store.redis.RedisClusterIntegrationTests.Clustered;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A slot of a Redis Cluster moves to another of three nodes, key by key, while a lock in
 * it is held and waited for.
 */
class RedisReshardingIntegrationTests extends AbstractRedisClusterTests {

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(5);

	private static final LockSettings SETTINGS = LockSettings.builder()
		.commandTimeout(COMMAND_TIMEOUT)
		.lease(Duration.ofSeconds(40))
		.waitTime(Duration.ofMinutes(2))
		.shutdownTimeout(Duration.ZERO)
		.build();

	private static final String KEY = "moving";

	private static final RedisKeys KEYS = RedisKeys.of("dlock", KEY);

	private static final int SLOT = ClusterSlotHashUtil.calculateSlot(KEYS.lock());

	private final MailboxAddress mailbox = MailboxAddress.create(Duration.ofSeconds(9));

	private final RedisServer source = this.nodes.get(SLOT / SLOTS_PER_NODE);

	private final RedisServer target = this.nodes.get((SLOT / SLOTS_PER_NODE + 1) % 3);

	@ParameterizedTest
	@EnumSource
	void heldLockStaysHeldWhileItsSlotMoves(Client client) {
		try (Clustered one = new Clustered(this.nodes.get(0), client, COMMAND_TIMEOUT);
				Clustered two = new Clustered(this.nodes.get(1), client, COMMAND_TIMEOUT);
				Clustered three = new Clustered(this.nodes.get(2), client, COMMAND_TIMEOUT);
				LeaseLockRegistry registry = new LeaseLockRegistry(Patience.connected(one.store()), SETTINGS);
				LeaseLockRegistry waitingProcess = new LeaseLockRegistry(Patience.connected(two.store()), SETTINGS);
				LeaseLockRegistry other = new LeaseLockRegistry(Patience.connected(three.store()), SETTINGS)) {
			LockHandle holder = registry.acquire(KEY);
			CompletableFuture<LockHandle> waiting = waitingProcess.acquireAsync(LockRequest.of(KEY));
			assertThat(other.tryAcquire(KEY, Duration.ofMillis(200))).isEmpty();
			Awaitility.await().until(() -> queueOf(this.source).contains(" "));
			setSlot(this.target, "IMPORTING", this.source);
			setSlot(this.source, "MIGRATING", this.target);
			staysHeld(holder, other, waiting);
			migrate(KEYS.lock());
			staysHeld(holder, other, waiting);
			migrate(KEYS.fence());
			staysHeld(holder, other, waiting);
			holder.release();
			// a process that takes its turn too late acquires a free lock only then
			for (RedisServer node : this.nodes) {
				setSlot(node, "NODE", this.target);
			}
			assertThat(waiting).succeedsWithin(Patience.EVENTUALLY)
				.satisfies((next) -> assertThat(next.token()).isGreaterThan(holder.token()));
			LockHandle next = waiting.join();
			staysHeld(next, other, new CompletableFuture<>());
			next.release();
			other.acquire(KEY).release();
		}
	}

	/**
	 * Calls the store while the slot migrates: the keys are on the source, and a script
	 * must not miss one there.
	 */
	private void migrating(BiConsumer<RedisLockStore, RedisConnection> calls) {
		LettuceConnectionFactory direct = LettuceFactories.create(this.source.host(), this.source.port());
		try (Clustered one = new Clustered(this.source, Client.LETTUCE, COMMAND_TIMEOUT);
				RedisConnection connection = direct.getConnection()) {
			granted(Patience.connected(one.store()), "a", null, null);
			refused(one.store(), "b", this.mailbox);
			setSlot(this.target, "IMPORTING", this.source);
			setSlot(this.source, "MIGRATING", this.target);
			calls.accept(one.store(), connection);
		}
		finally {
			direct.destroy();
		}
	}

	private static AcquireResult ask(RedisLockStore store, String owner, @Nullable MailboxAddress mailbox,
			@Nullable String releasing) {
		return store.acquire(new AcquireCommand(KEY, owner, Duration.ofMinutes(1), "holder", "reason", mailbox,
				mailbox != null, releasing, 9));
	}

	private static void granted(RedisLockStore store, String owner, @Nullable MailboxAddress mailbox,
			@Nullable String releasing) {
		assertThat(ask(store, owner, mailbox, releasing)).as(owner).isInstanceOf(Granted.class);
	}

	private static void refused(RedisLockStore store, String owner, MailboxAddress mailbox) {
		assertThat(ask(store, owner, mailbox, null)).as(owner).isInstanceOf(Refused.class);
	}

	/**
	 * End the lease of an exclusive owner, whose key outlives it by a second.
	 */
	private static void end(RedisConnection connection) {
		assertThat(connection.keyCommands().pExpire(KEYS.lock(), 999)).isTrue();
	}

	@Test
	void lockIsPassedOnWhileItsSlotMigrates() {
		migrating((store, connection) -> {
			assertThat(store.release(KEY, "a")).isTrue();
			granted(store, "b", this.mailbox, null);
			granted(store, "c", null, "b");
			refused(store, "+d", this.mailbox);
			assertThat(ask(store, "e", null, "c")).isInstanceOf(Refused.class);
			granted(store, "+d", this.mailbox, null);
			refused(store, "f", this.mailbox);
			assertThat(store.release(KEY, "+d")).isTrue();
			granted(store, "f", this.mailbox, null);
		});
	}

	@Test
	void lockIsExchangedWhileItsSlotMigrates() {
		migrating((store, connection) -> {
			granted(store, "+c", null, "a");
			granted(store, "b", this.mailbox, "+c");
			granted(store, "+d", null, "b");
			granted(store, "+e", null, "+d");
			granted(store, "f", null, "+e");
			assertThat(store.release(KEY, "f")).isTrue();
		});
	}

	@Test
	void lockThatIsOverIsGrantedWhileItsSlotMigrates() {
		migrating((store, connection) -> {
			end(connection);
			granted(store, "b", this.mailbox, null);
			refused(store, "c", this.mailbox);
			end(connection);
			granted(store, "+d", null, null);
			byte[] over = "0 5 5 0 ".getBytes(StandardCharsets.US_ASCII);
			connection.hashCommands().hSet(KEYS.lock(), "+d".getBytes(StandardCharsets.US_ASCII), over);
			granted(store, "c", this.mailbox, null);
		});
	}

	private static void staysHeld(LockHandle holder, LeaseLockRegistry other, CompletableFuture<LockHandle> waiting) {
		holder.renewNow();
		assertThat(holder.isValid()).isTrue();
		assertThat(tryAcquire(other)).isEmpty();
		assertThat(waiting).isNotDone();
	}

	/**
	 * A script with two keys is refused while only one of them has moved.
	 */
	private static Optional<LockHandle> tryAcquire(LeaseLockRegistry registry) {
		try {
			return registry.tryAcquire(KEY, Duration.ofMillis(200));
		}
		catch (LockStoreException ex) {
			assertThat(ex).hasMessageContaining("TRYAGAIN");
			return Optional.empty();
		}
	}

	private void setSlot(RedisServer server, String state, RedisServer node) {
		RedisClusterIntegrationTests.call(server, "CLUSTER", "SETSLOT", Integer.toString(SLOT), state,
				RedisClusterIntegrationTests.call(node, "CLUSTER", "MYID"));
	}

	private static String queueOf(RedisServer server) {
		return RedisClusterIntegrationTests.call(server, "HGET", new String(KEYS.lock(), StandardCharsets.US_ASCII),
				"waiting");
	}

	private void migrate(byte[] key) {
		assertThat(RedisClusterIntegrationTests.call(this.source, "MIGRATE", this.target.host(),
				Integer.toString(this.target.port()), new String(key, StandardCharsets.US_ASCII), "0", "5000"))
			.contains("OK");
	}

}
