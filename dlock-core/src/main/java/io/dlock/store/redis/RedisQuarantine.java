package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.QuarantineEnd;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.redis.connection.RedisAnswers;
import io.dlock.store.redis.connection.RedisConnections;
import io.dlock.store.redis.connection.RedisLockScript;

/**
 * The quarantine of a Redis after a failover or a restart, as this process sees it.
 */
final class RedisQuarantine {

	private static final Log logger = LogFactory.getLog(RedisQuarantine.class);

	/** A master counts its replicas once a second, and their silence in whole seconds. */
	private static final Duration DETECTION_TIME = Duration.ofSeconds(2);

	private static final String SERVER_LAG = "min-replicas-max-lag";

	private static final int BUCKETS_AT_ONCE = 256;

	private static final int VISITS_IN_QUARANTINE = 10;

	private final RedisConnections connections;

	private final String prefix;

	private final Quarantine quarantine;

	private final RedisQuarantineScripts scripts;

	private final AtomicInteger visits = new AtomicInteger();

	private final QuarantineEnd end = new QuarantineEnd();

	private final CountDownLatch closed = new CountDownLatch(1);

	RedisQuarantine(RedisConnections connections, String prefix, Quarantine quarantine) {
		this.connections = connections;
		this.prefix = prefix;
		this.quarantine = quarantine;
		this.scripts = new RedisQuarantineScripts(quarantine);
	}

	RedisLockScript guarded(RedisLockScript script) {
		return this.scripts.guarded(script);
	}

	void check(AcquireCommand command) {
		this.quarantine.check(command);
	}

	/**
	 * Check that a server reports its history, and that it grants no locks as a former
	 * master. Replicas that connect later are left to a warning of the health.
	 * @param key a key of the server
	 */
	void verify(byte[] key) {
		List<?> server = server(this.connections, key);
		if (this.quarantine.maxLag().isZero()) {
			return;
		}
		String version = RedisAnswers.text(server.get(2));
		if (RedisInfo.grantsWithoutReplicas(version)) {
			throw new StoreMisconfiguredException(
					"A quarantine with a maximum lag of %d ms needs min-replicas-to-write, but Redis %s does not apply it to scripts, so that a former master goes on to grant locks."
						.formatted(this.quarantine.maxLag().toMillis(), version),
					"Use Redis 6.2.7 or newer, or set dlock.failover.max-lag=0s if the server has no replicas.", null);
		}
		String replicas = RedisAnswers.text(server.get(3));
		if (!replicas.equals("0")) {
			throw new StoreMisconfiguredException(
					"A quarantine with a maximum lag of %d ms needs min-replicas-to-write, but it is not in effect on a Redis with %s replicas, so that a former master goes on to grant locks."
						.formatted(this.quarantine.maxLag().toMillis(), replicas),
					"Set min-replicas-to-write of each server to the number of its replicas, and dlock.failover.max-lag to min-replicas-max-lag and two seconds.",
					null);
		}
	}

	/**
	 * Compare the lag with that of the masters, as far as they tell it. One whose lag is
	 * zero does not look at its replicas.
	 */
	void verifyLag() {
		if (this.quarantine.maxLag().isZero()) {
			return;
		}
		for (Map<String, String> master : this.connections.masterSettings("min-replicas-*")) {
			String lag = master.getOrDefault(SERVER_LAG, "0");
			if (!lag.equals("0") && !master.getOrDefault("min-replicas-to-write", "0").equals("0")) {
				verifyLag(lag);
			}
		}
	}

	private void verifyLag(String seconds) {
		Duration needed = Duration.ofSeconds(Long.parseLong(seconds)).plus(DETECTION_TIME);
		if (this.quarantine.maxLag().compareTo(needed) < 0) {
			throw new StoreMisconfiguredException(
					"A quarantine with a maximum lag of %d ms is too short: %s of Redis is %s, so that a former master goes on to grant locks for up to %d ms."
						.formatted(this.quarantine.maxLag().toMillis(), SERVER_LAG, seconds, needed.toMillis()),
					"Set dlock.failover.max-lag to %ds or more, or lower %s of each server."
						.formatted(needed.toSeconds(), SERVER_LAG),
					null);
		}
	}

	/**
	 * Check that the server reports its history.
	 * @param connections the connections to the server
	 * @param prefix the beginning of the keys
	 * @return the id of the server, which is another one after a restart
	 */
	static String serverId(RedisConnections connections, String prefix) {
		return RedisAnswers.text(server(connections, RedisKeys.era(prefix, 0)).get(1));
	}

	private static List<?> server(RedisConnections connections, byte[] key) {
		List<?> answer = connections.execute("check",
				(connection) -> RedisQuarantineScripts.CHECK.list(connection, key));
		String detail = RedisAnswers.text(answer.get(1));
		if (RedisAnswers.number(answer.get(0)) == 1) {
			throw new StoreMisconfiguredException(
					"A quarantine after a failover and a quorum need the ids of Redis, but it does not let the user of the locks ask for its state ("
							+ detail + ").",
					"Grant the user of the locks +info, or disable quarantine and quorum.", null);
		}
		if (RedisAnswers.number(answer.get(0)) == 2) {
			throw new StoreMisconfiguredException(
					"A quarantine after a failover and a quorum need the ids of Redis, but this server does not report its "
							+ detail + " in INFO, so that a failover would not be noticed.",
					"Use a Redis or Valkey server that reports it, or disable quarantine and quorum.", null);
		}
		return answer;
	}

	/**
	 * Check that an answer is not that of a server in quarantine.
	 * @throws StoreQuarantinedException if it is
	 */
	void check(List<?> answer) {
		if (RedisAnswers.number(answer.get(0)) != RedisQuarantineScripts.QUARANTINED) {
			return;
		}
		Duration remaining = Duration.ofMillis(RedisAnswers.number(answer.get(1)));
		note(remaining);
		if (RedisAnswers.number(answer.get(2)) == 1) {
			visitAll();
		}
		throw new StoreQuarantinedException(remaining);
	}

	Duration remaining() {
		return this.end.remaining();
	}

	private void note(Duration remaining) {
		if (this.end.note(remaining)) {
			logger.warn(
					"Redis (%s) is new, has failed over or restarted: it grants no lock for %d ms, until all leases that it may have forgotten have expired. Known locks are still renewed"
						.formatted(this.connections.description(), remaining.toMillis()));
		}
	}

	/**
	 * Begin the quarantine of all buckets of the server, on a thread of its own:
	 * otherwise an idle bucket's quarantine would begin only with its next use, possibly
	 * hours later. That remains so for a bucket that is not reached, because this process
	 * dies or a node does not answer for long.
	 */
	private void visitAll() {
		if (this.visits.getAndIncrement() > 0) {
			return;
		}
		Thread thread = new Thread(null, this::visitUntilDone, "dlock-redis-quarantine", 0, false);
		thread.setDaemon(true);
		try {
			thread.start();
		}
		catch (OutOfMemoryError ex) {
			noVisits(ex);
		}
	}

	private void noVisits(Throwable reason) {
		logger.debug("The quarantine of keys begins with their next use", reason);
		this.visits.set(0);
	}

	/**
	 * Visit again until nothing more is found: slots of a cluster move one after the
	 * other, and a node may not answer at once.
	 */
	private void visitUntilDone() {
		Duration pause = this.quarantine.longestLease().plus(this.quarantine.maxLag()).dividedBy(VISITS_IN_QUARANTINE);
		int seen;
		boolean more;
		try {
			do {
				seen = this.visits.get();
				more = visitEach() && !remaining().isZero();
				if (more && this.closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
					return;
				}
			}
			while (more || !this.visits.compareAndSet(seen, 0));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (RuntimeException | Error ex) {
			noVisits(ex);
		}
	}

	/**
	 * Visit all buckets.
	 * @return whether another visit may find more
	 */
	private boolean visitEach() {
		boolean found = false;
		for (int first = 0; first < RedisKeys.BUCKETS; first += BUCKETS_AT_ONCE) {
			for (Object answer : visit(first)) {
				found |= !(answer instanceof List<?> list) || (hasBegun(list) && this.connections.isCluster());
			}
		}
		return found;
	}

	private boolean hasBegun(List<?> answer) {
		if (RedisAnswers.number(answer.get(0)) != RedisQuarantineScripts.QUARANTINED) {
			return false;
		}
		note(Duration.ofMillis(RedisAnswers.number(answer.get(1))));
		return RedisAnswers.number(answer.get(2)) == 1;
	}

	private List<Object> visit(int first) {
		return this.connections.executeAll("quarantine",
				IntStream.range(first, first + BUCKETS_AT_ONCE)
					.mapToObj((bucket) -> this.scripts.visit().list(RedisKeys.era(this.prefix, bucket)))
					.toList());
	}

	/**
	 * End the visits, which need the connections.
	 */
	void close() {
		this.closed.countDown();
	}

}
