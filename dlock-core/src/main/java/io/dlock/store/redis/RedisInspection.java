package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;
import io.dlock.store.redis.connection.RedisAnswers;
import io.dlock.store.redis.connection.RedisConnections;

/**
 * The operations for operators, by scripts as well: they run with any client, and a
 * script goes to the node of a cluster that has its key. A failure here does not count as
 * a failure of the connection.
 */
final class RedisInspection implements StoreInspection {

	/**
	 * The number of keys that the server looks at in one step, during which it does
	 * nothing else.
	 */
	private static final int KEYS_AT_ONCE = 1000;

	/** The number of values that a script answers for each lock. */
	private static final int VALUES_OF_A_LOCK = 7;

	private final RedisConnections connections;

	private final RedisMailboxes mailboxes;

	private final String prefix;

	private final Duration commandTimeout;

	private final @Nullable RedisAcknowledgement acknowledgement;

	RedisInspection(RedisConnections connections, RedisMailboxes mailboxes, String prefix, Duration commandTimeout,
			@Nullable RedisAcknowledgement acknowledgement) {
		this.connections = connections;
		this.mailboxes = mailboxes;
		this.prefix = prefix;
		this.commandTimeout = commandTimeout;
		this.acknowledgement = acknowledgement;
	}

	/**
	 * Looks at as many keys of the database as possible within a command timeout.
	 */
	@Override
	public StoredLocks list(int limit) {
		long deadline = System.nanoTime() + this.commandTimeout.toNanos();
		Map<String, List<StoredLock>> found = new LinkedHashMap<>();
		boolean all = true;
		for (byte[] key : nodes().values()) {
			all &= addAll(key, limit, deadline, found);
		}
		StoredLocks locks = StoredLocks.of(found.values().stream().flatMap(List::stream).toList(), limit);
		return new StoredLocks(locks.locks(), locks.complete() && all);
	}

	/**
	 * Add the locks of a node.
	 * @return {@code false} if the time was over before
	 */
	private boolean addAll(byte[] key, int limit, long deadline, Map<String, List<StoredLock>> found) {
		String cursor = "0";
		do {
			if (found.size() > limit || System.nanoTime() - deadline >= 0) {
				return false;
			}
			cursor = addSome(key, cursor, found);
		}
		while (!cursor.equals("0"));
		return true;
	}

	/**
	 * Take one step. The server may show the same lock twice.
	 */
	private String addSome(byte[] key, String cursor, Map<String, List<StoredLock>> found) {
		List<?> page = this.connections.run("list", (connection) -> RedisInspectionScripts.LIST.list(connection, key,
				bytes(cursor), RedisKeys.allLocks(this.prefix), bytes(Integer.toString(KEYS_AT_ONCE))));
		String next = RedisAnswers.text(page.get(0));
		if (next.isEmpty()) {
			throw new StoreException(Effect.NONE, true,
					"Redis does not let the user of the locks list them, which needs " + "+scan ("
							+ RedisAnswers.text(page.get(1)) + ")",
					null);
		}
		found.putAll(locks(page.subList(1, page.size())).stream()
			.distinct()
			.collect(Collectors.groupingBy(StoredLock::storageKey)));
		return next;
	}

	@Override
	public Optional<StoredLock> findStored(String storageKey) {
		return findAll(storageKey).stream().max(Comparator.comparingLong(StoredLock::token));
	}

	@Override
	public List<StoredLock> findAll(String storageKey) {
		byte[] lock = RedisKeys.ofStorageKey(this.prefix, storageKey).lock();
		List<?> answer = this.connections.run("find",
				(connection) -> RedisInspectionScripts.FIND.list(connection, lock));
		return locks(answer);
	}

	/**
	 * Read the answer of a script.
	 * @param answer the time of the server and the values of the locks
	 */
	private static List<StoredLock> locks(List<?> answer) {
		Instant now = RedisAnswers.instant(answer.get(0));
		List<StoredLock> locks = new ArrayList<>();
		for (int i = 1; i < answer.size(); i += VALUES_OF_A_LOCK) {
			locks.add(lock(answer.subList(i, i + VALUES_OF_A_LOCK), now));
		}
		return locks;
	}

	private static StoredLock lock(List<?> values, Instant now) {
		Instant since = RedisAnswers.instant(values.get(3));
		return new StoredLock(RedisKeys.storageKey(RedisAnswers.text(values.get(0))), RedisAnswers.text(values.get(1)),
				RedisAnswers.text(values.get(2)), since, now.plusMillis(RedisAnswers.number(values.get(6))),
				RedisAnswers.number(values.get(4)), Duration.between(since, now),
				RedisAnswers.number(values.get(5)) == 1, RedisAnswers.number(values.get(5)) == 2);
	}

	@Override
	public boolean forceRelease(String storageKey, long token) {
		byte[] lock = RedisKeys.ofStorageKey(this.prefix, storageKey).lock();
		return this.connections.run("release by force", (connection) -> RedisInspectionScripts.FORCE_RELEASE
			.number(connection, lock, bytes(Long.toString(token)))) == 1;
	}

	/**
	 * The nodes of a cluster are asked at the same time, and waited for half as long as
	 * for a command: a lock is taken in the rest of the time of a check.
	 */
	@Override
	public StoreFacts diagnose() {
		if (!isCluster()) {
			return diagnose(RedisKeys.fence(this.prefix, 0));
		}
		long deadline = System.nanoTime() + this.commandTimeout.toNanos() / 2;
		Map<String, Future<StoreFacts>> answers = new LinkedHashMap<>();
		answer(inBackground(this::nodes), deadline)
			.forEach((node, key) -> answers.put(node, inBackground(() -> diagnose(key))));
		Map<String, StoreFacts> facts = new LinkedHashMap<>();
		answers.forEach((node, answer) -> facts.put(node, facts(answer, deadline)));
		return (facts.size() == 1) ? facts.values().iterator().next() : RedisInfo.together(facts);
	}

	private boolean isCluster() {
		try {
			return this.connections.isCluster();
		}
		catch (RuntimeException ex) {
			throw this.connections.notConnected(ex);
		}
	}

	private static <T> Future<T> inBackground(Callable<T> question) {
		FutureTask<T> answer = new FutureTask<>(question);
		Thread thread = new Thread(null, answer, "dlock-redis-diagnosis", 0, false);
		thread.setDaemon(true);
		thread.start();
		return answer;
	}

	private static <T> T answer(Future<T> answer, long deadline) {
		try {
			return answer.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			throw new StoreException(Effect.NONE, false, "no answer in time", ex);
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof StoreException failure) ? failure
					: new StoreException(Effect.NONE, false, String.valueOf(ex.getMessage()), ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreException(Effect.NONE, false, "interrupted", ex);
		}
	}

	/**
	 * A node of a cluster that does not answer is a warning: other nodes have locks as
	 * well.
	 */
	private static StoreFacts facts(Future<StoreFacts> answer, long deadline) {
		try {
			return answer(answer, deadline);
		}
		catch (StoreException ex) {
			return new StoreFacts("Redis", null, List.of("This node does not answer: " + ex.getMessage()));
		}
	}

	private StoreFacts diagnose(byte[] key) {
		List<?> info = this.connections.run("diagnose",
				(connection) -> RedisInspectionScripts.INFO.list(connection, key, this.mailboxes.checkedChannel()));
		String text = RedisAnswers.text(info.get(1));
		StoreFacts facts = (RedisAnswers.number(info.get(0)) == 1) ? new RedisInfo(text).facts(this.acknowledgement)
				: new StoreFacts("Redis", null,
						List.of("Redis does not let the user of the locks ask for its state, which needs +info (" + text
								+ ")"));
		String refusal = this.mailboxes.refusal(RedisAnswers.text(info.get(2)));
		return (refusal == null) ? facts : new StoreFacts(facts.server(), facts.role(),
				Stream.concat(facts.warnings().stream(), Stream.of(refusal)).toList());
	}

	/**
	 * One key for each node that has locks: a script goes where its key is. If this is no
	 * cluster, any key will do.
	 */
	Map<String, byte[]> nodes() {
		if (!isCluster()) {
			return Map.of("", RedisKeys.fence(this.prefix, 0));
		}
		try (RedisClusterConnection cluster = this.connections.factory().getClusterConnection()) {
			return nodes(cluster.clusterGetNodes());
		}
		catch (RuntimeException ex) {
			throw this.connections.notConnected(ex);
		}
	}

	private Map<String, byte[]> nodes(Iterable<RedisClusterNode> all) {
		List<byte[]> keys = IntStream.range(0, RedisKeys.BUCKETS)
			.mapToObj((bucket) -> RedisKeys.fence(this.prefix, bucket))
			.toList();
		Map<String, byte[]> nodes = new LinkedHashMap<>();
		for (RedisClusterNode node : all) {
			keys.stream()
				.filter((key) -> node.isMaster() && node.servesSlot(ClusterSlotHashUtil.calculateSlot(key)))
				.findFirst()
				.ifPresent((key) -> nodes.put(node.asString(), key));
		}
		return nodes;
	}

	private static byte[] bytes(String value) {
		return value.getBytes(StandardCharsets.US_ASCII);
	}

}
