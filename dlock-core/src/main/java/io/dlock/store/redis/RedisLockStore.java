package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;

/**
 * Locks in Redis 6.2 or newer, or a server that speaks its protocol. One Lua script and
 * one round trip for each operation.
 * <p>
 * The store talks to Redis over a connection of its own, made from the configuration of
 * the given factory but with the command timeout of the lock: the application's timeout,
 * 60 seconds by default, is longer than most leases.
 *
 * @since 0.1
 */
public final class RedisLockStore implements LockStore {

	private static final Log logger = LogFactory.getLog(RedisLockStore.class);

	/**
	 * The number of renewals that are sent before their answers are awaited, so that the
	 * answers come within the command timeout.
	 */
	private static final int RENEWALS_AT_ONCE = 1000;

	private final RedisConnections connections;

	private final RedisMailboxes mailboxes;

	private final RedisInspection inspection;

	private final String prefix;

	/**
	 * Create a store.
	 * @param connectionFactory the factory the application uses; Lettuce and Jedis give
	 * the store its own connection, any other is used as it is
	 * @param settings how to use Redis
	 */
	public RedisLockStore(RedisConnectionFactory connectionFactory, RedisLockStoreSettings settings) {
		this.connections = RedisConnectionsFactory.create(connectionFactory, settings.commandTimeout());
		this.prefix = settings.prefix();
		this.mailboxes = new RedisMailboxes(this.connections, this.prefix, settings.commandTimeout());
		this.inspection = new RedisInspection(this.connections, this.prefix, settings.commandTimeout());
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		RedisLockScript script = acquireScript(command);
		List<?> answer = this.connections.execute("acquire",
				(connection) -> script.list(connection, acquireArguments(command)));
		if (RedisAnswers.number(answer.get(0)) == 1) {
			return new AcquireResult.Granted(RedisAnswers.number(answer.get(1)),
					answer.size() > 2 && RedisAnswers.number(answer.get(2)) == 1);
		}
		Duration remaining = Duration.ofMillis(Math.max(0, RedisAnswers.number(answer.get(1))));
		return new AcquireResult.Refused(remaining, lock(command.key(), remaining, answer));
	}

	private static @Nullable StoredLock lock(String key, Duration remaining, List<?> answer) {
		if (answer.size() < 7 || answer.contains(null)) {
			return null;
		}
		Instant now = RedisAnswers.instant(answer.get(2));
		Instant since = RedisAnswers.instant(answer.get(5));
		Instant until = (answer.size() > 7) ? RedisAnswers.instant(answer.get(7)) : now.plus(remaining);
		return new StoredLock(StorageKey.of(key), RedisAnswers.text(answer.get(3)), RedisAnswers.text(answer.get(4)),
				since, until, RedisAnswers.number(answer.get(6)), Duration.between(since, now), false);
	}

	private static RedisLockScript acquireScript(AcquireCommand command) {
		if (LockStore.isMember(command.owner())) {
			return RedisMemberScripts.ACQUIRE;
		}
		String releasing = command.releasing();
		return (releasing != null && LockStore.isMember(releasing)) ? RedisMemberScripts.EXCHANGE
				: RedisLockScripts.ACQUIRE;
	}

	/**
	 * Arguments that only a waiting process needs are left out: a server that asks for a
	 * password takes no more than ten arguments before it has one, and fails with a
	 * confusing message.
	 */
	private byte[][] acquireArguments(AcquireCommand command) {
		RedisKeys keys = RedisKeys.of(this.prefix, command.key());
		MailboxAddress mailbox = command.mailbox();
		String releasing = command.releasing();
		List<byte[]> arguments = new ArrayList<>(List.of(keys.lock(), keys.fence(), bytes(command.owner()),
				millis(command.lease()), bytes(command.holder()), bytes(command.reason())));
		if (LockStore.isMember(command.owner())) {
			arguments.add(bytes(Integer.toString(command.limit())));
		}
		if (mailbox != null || releasing != null) {
			arguments.add(bytes((mailbox != null) ? mailbox.value() : ""));
			arguments.add(bytes((releasing != null) ? releasing : ""));
			arguments.add(bytes(command.queueing() ? "1" : "0"));
		}
		return arguments.toArray(byte[][]::new);
	}

	@Override
	public void leave(String storageKey, MailboxAddress mailbox) {
		RedisKeys keys = RedisKeys.ofStorageKey(this.prefix, storageKey);
		this.connections.execute("leave the queue",
				(connection) -> RedisLockScripts.LEAVE.number(connection, keys.lock(), bytes(mailbox.value())));
	}

	@Override
	public Mailbox openMailbox(MailboxAddress address, Consumer<String> onLockAvailable) {
		return this.mailboxes.open(address, onLockAvailable);
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		List<RenewResult> results = new ArrayList<>(leases.size());
		int atOnce = RENEWALS_AT_ONCE;
		boolean answering = true;
		while (answering && results.size() < leases.size()) {
			int end = Math.min(results.size() + atOnce, leases.size());
			List<RenewResult> next = renewTogether(leases.subList(results.size(), end));
			results.addAll(next);
			answering = next.stream().anyMatch((result) -> result != RenewResult.UNKNOWN);
			if (next.contains(RenewResult.UNKNOWN)) {
				// a node of a cluster is down: spend one more timeout in all, not one
				// each
				atOnce = leases.size();
			}
		}
		results.addAll(Collections.nCopies(leases.size() - results.size(), RenewResult.UNKNOWN));
		return results;
	}

	private List<RenewResult> renewTogether(List<RenewCommand> leases) {
		try {
			List<ScriptRun> runs = leases.stream().map(this::renewal).toList();
			List<Object> answers = this.connections.execute("renew",
					(connection) -> atLeastOneAnswer(RedisLockScript.numbers(connection, runs)));
			answers.stream()
				.filter((answer) -> answer instanceof RuntimeException)
				.findFirst()
				.ifPresent((ex) -> this.connections.failed((RuntimeException) ex));
			return answers.stream().map(RedisLockStore::renewed).toList();
		}
		catch (StoreException ex) {
			logger.debug("The renewal of " + leases.size() + " locks failed", ex);
			return Collections.nCopies(leases.size(), RenewResult.UNKNOWN);
		}
	}

	/**
	 * If all runs failed, the connection did, which has to be counted.
	 */
	private static List<Object> atLeastOneAnswer(List<Object> answers) {
		if (answers.stream().allMatch(RuntimeException.class::isInstance)) {
			throw (RuntimeException) answers.get(0);
		}
		return answers;
	}

	private ScriptRun renewal(RenewCommand lease) {
		return (LockStore.isMember(lease.owner()) ? RedisMemberScripts.RENEW : RedisLockScripts.RENEW)
			.with(RedisKeys.of(this.prefix, lease.key()).lock(), bytes(lease.owner()), millis(lease.lease()));
	}

	private static RenewResult renewed(Object answer) {
		if (answer instanceof RuntimeException) {
			return RenewResult.UNKNOWN;
		}
		return (RedisAnswers.number(answer) == 1) ? RenewResult.RENEWED : RenewResult.REFUSED;
	}

	@Override
	public boolean release(String key, String owner) {
		return release(key, owner, () -> {
		});
	}

	@Override
	public boolean release(String key, String owner, Runnable onSent) {
		RedisKeys keys = RedisKeys.of(this.prefix, key);
		return this.connections.execute("release", (connection) -> releaseScript(owner)
			.number(connection.reporting(onSent), keys.lock(), bytes(owner))) == 1;
	}

	private static RedisLockScript releaseScript(String owner) {
		return LockStore.isMember(owner) ? RedisMemberScripts.RELEASE : RedisLockScripts.RELEASE;
	}

	@Override
	public boolean supportsMembers() {
		return true;
	}

	@Override
	public boolean keep(String key, String owner, Duration rest) {
		RedisKeys keys = RedisKeys.of(this.prefix, key);
		return this.connections.execute("keep",
				(connection) -> RedisLockScripts.KEEP.number(connection, keys.lock(), bytes(owner), millis(rest))) == 1;
	}

	@Override
	public boolean releaseAsync(String key, String owner, Consumer<StoreException> onFailure) {
		RedisKeys keys = RedisKeys.of(this.prefix, key);
		return this.connections.run("release", (connection) -> releaseScript(owner).send(connection,
				(failure) -> onFailure.accept(RedisErrors.translate("release", failure)), keys.lock(), bytes(owner)));
	}

	@Override
	public Optional<StoredLock> find(String key) {
		return this.inspection.findStored(StorageKey.of(key));
	}

	@Override
	public StoreInspection inspection() {
		return this.inspection;
	}

	@Override
	public void verify() {
		String key = "dlock/start-up-check";
		String owner = UUID.randomUUID().toString();
		acquire(new AcquireCommand(key, owner, Duration.ofSeconds(1), "start-up check", ""));
		release(key, owner);
	}

	@Override
	public String describe() {
		return "redis (" + this.connections.description() + ")";
	}

	@Override
	public void close() {
		this.mailboxes.close();
		this.connections.close();
	}

	private static byte[] bytes(String value) {
		return value.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Redis counts in milliseconds, and a lease must not be shorter than requested.
	 */
	private static byte[] millis(Duration lease) {
		long millis = lease.toMillis();
		return bytes(Long.toString((lease.compareTo(Duration.ofMillis(millis)) > 0) ? millis + 1 : millis));
	}

}
