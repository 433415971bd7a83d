package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.test.LettuceFactories;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store on a server of its own, and the record of a key that members hold.
 */
@Timeout(120)
abstract class AbstractRedisMemberTests {

	static final int UNLIMITED = AcquireCommand.UNLIMITED;

	static final Duration LEASE = Duration.ofSeconds(60);

	/** Over soon, but mostly not before the next command. */
	static final Duration SOON = Duration.ofSeconds(2);

	static final String KEY = "reports";

	static final RedisKeys KEYS = RedisKeys.of("dlock", KEY);

	private final RedisServer server = RedisServer.start();

	final MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));

	final MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(9));

	final MailboxAddress third = MailboxAddress.create(Duration.ofSeconds(9));

	private LettuceConnectionFactory factory;

	RedisLockStore store;

	@BeforeEach
	void openStore() {
		this.factory = LettuceFactories.create(this.server.host(), this.server.port());
		this.store = new RedisLockStore(this.factory,
				RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
	}

	@AfterEach
	void closeStore() {
		this.store.close();
		this.factory.destroy();
		this.server.close();
	}

	final <T> T onServer(Function<RedisConnection, T> command) {
		try (RedisConnection connection = this.factory.getConnection()) {
			return command.apply(connection);
		}
	}

	/**
	 * Repeat a test on an empty server in which something is needed before it is over,
	 * which a busy machine does not always manage.
	 */
	final void untilInTime(ThrowingRunnable test) {
		MachineWatch.repeatIfLate(() -> {
			onServer((connection) -> {
				connection.serverCommands().flushAll();
				return true;
			});
			test.run();
		});
	}

	final AcquireResult ask(String owner, Duration lease, int limit, @Nullable MailboxAddress mailbox) {
		return this.store.acquire(
				new AcquireCommand(KEY, owner, lease, "holder " + owner, "", mailbox, mailbox != null, null, limit));
	}

	final long granted(String owner, Duration lease) {
		return granted(ask(owner, lease, UNLIMITED, null));
	}

	static long granted(AcquireResult result) {
		assertThat(result).isInstanceOf(Granted.class);
		return ((Granted) result).token();
	}

	final Map<String, String> record() {
		Map<String, String> fields = new TreeMap<>();
		onServer((connection) -> connection.hashCommands().hGetAll(KEYS.lock()))
			.forEach((name, value) -> fields.put(text(name), text(value)));
		return fields;
	}

	final long expiry() {
		return onServer((connection) -> connection.keyCommands().pTtl(KEYS.lock()));
	}

	/**
	 * End the lease of an exclusive owner, or its reservation, of a key with a queue.
	 */
	final void end() {
		assertThat(expiry()).isGreaterThan(1000);
		onServer((connection) -> connection.keyCommands().pExpire(KEYS.lock(), 999));
	}

	static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
