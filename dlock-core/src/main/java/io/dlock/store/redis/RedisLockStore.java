package io.dlock.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.QuorumCapable;
import io.dlock.store.ReleaseResult;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.StoredLock;
import io.dlock.store.redis.connection.RedisAnswers;
import io.dlock.store.redis.connection.RedisConnections;
import io.dlock.store.redis.connection.RedisConnectionsFactory;
import io.dlock.store.redis.connection.RedisErrors;
import io.dlock.store.redis.connection.RedisLockScript;
import io.dlock.store.redis.connection.RedisUnacknowledgedException;
import io.dlock.store.redis.connection.ScriptRun;
import io.dlock.store.redis.connection.WaitCommand;

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
public final class RedisLockStore implements LockStore, QuorumCapable {

	/**
	 * The number of renewals that are sent before their answers are awaited, so that the
	 * answers come within the command timeout.
	 */
	private static final int RENEWALS_AT_ONCE = 1000;

	private static final Log logger = LogFactory.getLog(RedisLockStore.class);

	private final RedisConnections connections;

	private final RedisMailboxes mailboxes;

	private final RedisInspection inspection;

	private final String prefix;

	private final @Nullable RedisQuarantine quarantine;

	private final @Nullable WaitCommand acknowledgement;

	/**
	 * Create a store.
	 * @param connectionFactory the factory the application uses; Lettuce and Jedis give
	 * the store its own connection, any other is used as it is
	 * @param settings how to use Redis
	 */
	public RedisLockStore(RedisConnectionFactory connectionFactory, RedisLockStoreSettings settings) {
		this(RedisConnectionsFactory.create(connectionFactory, settings.commandTimeout()), settings);
	}

	private RedisLockStore(RedisConnections connections, RedisLockStoreSettings settings) {
		this.connections = connections;
		this.prefix = settings.prefix();
		this.quarantine = (settings.quarantine() != null)
				? new RedisQuarantine(this.connections, this.prefix, settings.quarantine()) : null;
		RedisAcknowledgement required = settings.acknowledgement();
		this.acknowledgement = (required != null) ? required.command() : null;
		this.mailboxes = new RedisMailboxes(this.connections, this.prefix, settings.commandTimeout());
		this.inspection = new RedisInspection(this.connections, this.mailboxes, this.prefix, settings.commandTimeout(),
				required);
	}

	/**
	 * Create a store for each of several servers that are asked at once, such as the
	 * nodes of a quorum. Their connections are those of single stores, but share the
	 * threads of the client, which the store that is closed last ends.
	 * @param connectionFactories the factory of each server
	 * @param settings how to use Redis
	 * @return the stores, in the order of the factories
	 */
	public static List<RedisLockStore> nodes(List<? extends RedisConnectionFactory> connectionFactories,
			RedisLockStoreSettings settings) {
		return RedisConnectionsFactory.create(connectionFactories, settings.commandTimeout())
			.stream()
			.map((connections) -> new RedisLockStore(connections, settings))
			.toList();
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		return acquire(command, 0);
	}

	@Override
	public AcquireResult acquire(AcquireCommand command, long leastToken) {
		return acquire(acquisition(command, leastToken));
	}

	private AcquireResult acquire(RedisAcquire acquire) {
		if (this.acknowledgement != null) {
			AcquireResult result = acquireEach(List.of(acquire)).get(0);
			if (result instanceof AcquireResult.Failed failed) {
				throw failed.failure();
			}
			return result;
		}
		return acquire.result(this.connections.execute("acquire", acquire::run));
	}

	/**
	 * An acquire with an acknowledgement waits for it on a thread.
	 */
	@Override
	public @Nullable CompletableFuture<AcquireResult> sendAcquire(AcquireCommand command, long leastToken) {
		if (this.acknowledgement != null) {
			return null;
		}
		RedisAcquire acquire = acquisition(command, leastToken);
		CompletableFuture<Object> sent = this.connections.send("acquire", acquire.scriptRun());
		return (sent != null) ? sent.thenApply((answer) -> acquire.result((List<?>) answer)) : null;
	}

	private RedisAcquire acquisition(AcquireCommand command, long leastToken) {
		if (this.quarantine != null) {
			this.quarantine.check(command);
		}
		return new RedisAcquire(this.prefix, command, leastToken, this.quarantine);
	}

	@Override
	public boolean supportsBatches() {
		return this.connections.pipelines();
	}

	@Override
	public List<AcquireResult> acquireAll(List<AcquireCommand> commands) {
		return acquireEach(commands.stream().map((command) -> acquisition(command, 0)).toList());
	}

	private List<AcquireResult> acquireEach(List<RedisAcquire> acquires) {
		List<Object> answers = this.connections.executeAll("acquire",
				acquires.stream().map(RedisAcquire::scriptRun).toList(), this.acknowledgement);
		return IntStream.range(0, acquires.size())
			.mapToObj((i) -> acquires.get(i).resultOrFailure(answers.get(i)))
			.toList();
	}

	@Override
	public void leave(String storageKey, MailboxAddress mailbox) {
		RedisKeys keys = RedisKeys.ofStorageKey(this.prefix, storageKey);
		this.connections.execute("leave the queue", (connection) -> RedisLockScripts.LEAVE.number(connection,
				keys.lock(), RedisLockScript.bytes(mailbox.value())));
	}

	@Override
	public @Nullable Mailbox openMailbox(MailboxAddress address, Consumer<String> onLockAvailable) {
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
		return this.connections.executeAll("renew", leases.stream().map(this::renewal).toList(), this.acknowledgement)
			.stream()
			.map(RedisLockStore::renewed)
			.toList();
	}

	private ScriptRun renewal(RenewCommand lease) {
		return (LockStore.isMember(lease.owner()) ? RedisMemberScripts.RENEW : RedisLockScripts.RENEW).number(
				RedisKeys.of(this.prefix, lease.key()).lock(), RedisLockScripts.owner(lease.owner()),
				RedisLockScript.millis(lease.lease()));
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
			.number(connection.reporting(onSent), keys.lock(), RedisLockScripts.owner(owner))) == 1;
	}

	@Override
	public List<ReleaseResult> releaseAll(List<ReleaseCommand> releases) {
		return this.connections.executeAll("release", releases.stream().map(this::release).toList())
			.stream()
			.map(RedisLockStore::released)
			.toList();
	}

	private ScriptRun release(ReleaseCommand release) {
		return releaseScript(release.owner()).number(RedisKeys.of(this.prefix, release.key()).lock(),
				RedisLockScripts.owner(release.owner()));
	}

	private static ReleaseResult released(Object answer) {
		if (answer instanceof RuntimeException) {
			return ReleaseResult.UNKNOWN;
		}
		return (RedisAnswers.number(answer) == 1) ? ReleaseResult.RELEASED : ReleaseResult.REFUSED;
	}

	private static RedisLockScript releaseScript(String owner) {
		return LockStore.isMember(owner) ? RedisMemberScripts.RELEASE : RedisLockScripts.RELEASE;
	}

	@Override
	public boolean supportsMembers() {
		return true;
	}

	@Override
	public boolean supportsFairLocks() {
		return true;
	}

	@Override
	public boolean keep(String key, String owner, Duration rest) {
		RedisKeys keys = RedisKeys.of(this.prefix, key);
		return this.connections.execute("keep", (connection) -> RedisLockScripts.KEEP.number(connection, keys.lock(),
				RedisLockScripts.owner(owner), RedisLockScript.millis(rest))) == 1;
	}

	@Override
	public boolean raiseToken(String key, String owner, long token) {
		RedisKeys keys = RedisKeys.of(this.prefix, key);
		return this.connections.execute("raise a token",
				(connection) -> RedisTokenScript.RAISE.number(connection, keys.lock(), keys.fence(),
						RedisLockScripts.owner(owner), RedisLockScript.bytes(Long.toString(token)))) == 1;
	}

	@Override
	public String serverId() {
		return RedisQuarantine.serverId(this.connections, this.prefix);
	}

	@Override
	public boolean releaseAsync(String key, String owner, Consumer<StoreException> onFailure) {
		CompletableFuture<Object> sent = this.connections.send("release", release(new ReleaseCommand(key, owner)));
		if (sent != null) {
			var unused = sent.whenComplete((answer, failure) -> {
				if (failure instanceof StoreException ex) {
					onFailure.accept(ex);
				}
			});
		}
		return sent != null;
	}

	@Override
	public @Nullable CompletableFuture<Boolean> sendRelease(String key, String owner) {
		CompletableFuture<Object> sent = this.connections.send("release", release(new ReleaseCommand(key, owner)));
		return (sent != null) ? sent.thenApply((answer) -> RedisAnswers.number(answer) == 1) : null;
	}

	@Override
	public Optional<StoredLock> find(String key) {
		return this.inspection.findStored(StorageKey.of(key));
	}

	@Override
	public StoreInspection inspection() {
		return this.inspection;
	}

	/**
	 * Check each master, which may have a version, settings and users of its own. One of
	 * a cluster that does not answer is a warning: other masters have locks as well.
	 */
	@Override
	public void verify() {
		Map<String, byte[]> masters = this.inspection.nodes();
		if (this.quarantine != null) {
			this.quarantine.verifyLag();
		}
		Map<String, StoreException> silent = new LinkedHashMap<>();
		masters.forEach((master, fence) -> {
			try {
				verify(fence);
			}
			catch (StoreException ex) {
				if (ex.isPermanent() || masters.size() == 1) {
					throw ex;
				}
				silent.put(master, ex);
			}
		});
		if (silent.size() == masters.size()) {
			throw silent.values()
				.stream()
				.findFirst()
				.orElseGet(() -> new StoreException(Effect.NONE, false, "No node of the cluster has locks", null));
		}
		silent.forEach((master, ex) -> logger.warn("Node " + master
				+ " of the Redis Cluster could not be checked, and its locks fail: " + ex.getMessage()));
		this.mailboxes.verify();
	}

	private void verify(byte[] fence) {
		String owner = UUID.randomUUID().toString();
		String key = RedisKeys.keyBeside(this.prefix, fence, "dlock/start-up-check/" + owner + "/");
		AcquireCommand command = new AcquireCommand(key, owner, Duration.ofMillis(10), "start-up check", "");
		if (this.quarantine != null) {
			this.quarantine.verify(fence);
		}
		try {
			acquireForCheck(command);
			release(key, owner);
		}
		catch (RedisUnacknowledgedException ex) {
			unacknowledged(ex);
		}
	}

	/**
	 * In a quarantine, the script without it shows what the user may do, and whether an
	 * acknowledgement can be had: the key protects nothing.
	 */
	private void acquireForCheck(AcquireCommand command) {
		try {
			acquire(command);
		}
		catch (StoreQuarantinedException ex) {
			logger.debug("Redis grants no lock for a while", ex);
			acquire(new RedisAcquire(this.prefix, command, 0, null));
		}
	}

	/**
	 * Replicas may be down for a moment.
	 */
	private void unacknowledged(RedisUnacknowledgedException ex) {
		if (this.acknowledgement != null && ex.isPermanent()) {
			throw this.acknowledgement.refused(ex);
		}
		logger.warn("No lock is granted at present: " + ex.getMessage());
	}

	@Override
	public Optional<Duration> quarantine() {
		return Optional.ofNullable(this.quarantine).map(RedisQuarantine::remaining);
	}

	@Override
	public String describe() {
		return "redis (" + this.connections.description() + ")";
	}

	@Override
	public void close() {
		if (this.quarantine != null) {
			this.quarantine.close();
		}
		this.mailboxes.close();
		this.connections.close();
	}

}
