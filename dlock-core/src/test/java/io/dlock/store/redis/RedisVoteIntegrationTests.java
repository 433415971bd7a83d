package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.StoredLock;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Acquires and releases that are sent without a wait for the answer.
 */
class RedisVoteIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final RedisLockStoreSettings SETTINGS = RedisLockStoreSettings.defaults()
		.withCommandTimeout(Patience.COMMAND);

	private final RedisServer server = RedisServer.start();

	private final TcpProxy proxy = TcpProxy.to(this.server.host(), this.server.port());

	private final LettuceConnectionFactory factory = LettuceFactories.create("127.0.0.1", this.proxy.port());

	private final RedisLockStore store = Patience.connected(new RedisLockStore(this.factory, SETTINGS));

	@AfterEach
	void close() {
		this.store.close();
		this.factory.destroy();
		this.proxy.close();
		this.server.close();
	}

	private static AcquireCommand command(String owner) {
		return new AcquireCommand("key", owner, LEASE, "holder", "");
	}

	private void forgetScripts() {
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.scriptingCommands().scriptFlush();
		}
	}

	@Test
	void answersAreThoseOfTheCommandsThatWait() {
		assertThat(this.store.sendAcquire(command("a"), 0)).succeedsWithin(Patience.EVENTUALLY)
			.isEqualTo(this.store.acquire(command("a")));
		assertThat(this.store.sendAcquire(command("b"), 0)).succeedsWithin(Patience.EVENTUALLY)
			.isInstanceOfSatisfying(Refused.class, (refused) -> assertThat(refused.lock()).extracting(StoredLock::token)
				.isEqualTo(this.store.find("key").orElseThrow().token()));
		assertThat(this.store.sendRelease("key", "b")).succeedsWithin(Patience.EVENTUALLY).isEqualTo(false);
		assertThat(this.store.sendRelease("key", "a")).succeedsWithin(Patience.EVENTUALLY).isEqualTo(true);
		assertThat(this.store.find("key")).isEmpty();
	}

	@Test
	void b38ScriptsAreSentAgainAfterTheServerForgotThem() {
		forgetScripts();
		assertThat(this.store.sendAcquire(command("a"), 0)).succeedsWithin(Patience.EVENTUALLY)
			.isInstanceOf(Granted.class);
		forgetScripts();
		assertThat(this.store.sendRelease("key", "a")).succeedsWithin(Patience.EVENTUALLY).isEqualTo(true);
		this.store.acquire(command("b"));
		forgetScripts();
		List<StoreException> failures = new CopyOnWriteArrayList<>();
		assertThat(this.store.releaseAsync("key", "b", failures::add)).isTrue();
		Awaitility.await().until(() -> this.store.acquire(command("c")) instanceof Granted);
		assertThat(failures).isEmpty();
	}

	@Test
	void r28SilentServerIsUnknownWithinTheCommandTimeout() {
		try (RedisLockStore impatient = Patience
			.connected(new RedisLockStore(this.factory, SETTINGS.withCommandTimeout(Duration.ofSeconds(1))))) {
			this.proxy.blackHole(true);
			CompletableFuture<AcquireResult> sent = impatient.sendAcquire(command("a"), 0);
			assertThat(sent).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.havingCause()
				.isInstanceOfSatisfying(StoreException.class, (ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN))
				.withMessageContaining("No answer within the command timeout");
			this.proxy.blackHole(false);
		}
	}

	@Test
	void nothingIsSentWithoutAConnection() {
		this.store.close();
		assertThat(this.store.sendAcquire(command("a"), 0)).isNull();
		assertThat(this.store.sendRelease("key", "a")).isNull();
	}

	/**
	 * The acknowledgement is awaited.
	 */
	@Test
	void acquireThatNeedsAnAcknowledgementIsNotSent() {
		try (RedisLockStore acknowledged = Patience.connected(new RedisLockStore(this.factory,
				SETTINGS.withAcknowledgement(RedisAcknowledgement.byReplicas(1, Duration.ofSeconds(1)))))) {
			assertThat(acknowledged.sendAcquire(command("a"), 0)).isNull();
		}
	}

	@Test
	void serverInQuarantineRefusesTheVote() {
		try (RedisLockStore quarantined = Patience.connected(
				new RedisLockStore(this.factory, SETTINGS.withQuarantine(new Quarantine(LEASE, Duration.ZERO))))) {
			CompletableFuture<AcquireResult> sent = quarantined.sendAcquire(command("a"), 0);
			assertThat(sent).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(StoreQuarantinedException.class);
			assertThat(quarantined.quarantine()).hasValueSatisfying((rest) -> assertThat(rest).isPositive());
		}
	}

}
