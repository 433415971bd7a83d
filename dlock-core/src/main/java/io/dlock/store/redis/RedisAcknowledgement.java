package io.dlock.store.redis;

import java.time.Duration;

import io.dlock.store.redis.connection.WaitCommand;

/**
 * The acknowledgement of each grant and renewal, for which the server is asked in the
 * same round trip ({@code WAIT} or {@code WAITAOF}). Without it in time the outcome of
 * the command is unknown: an acquire fails and is revoked, and a renewal is repeated
 * until the lease is over.
 *
 * @param replicas the number of replicas that must have the lock in their memory, at most
 * 100; zero if the server itself must have it on its disk instead
 * @param timeout how long to wait for that, at least 1 ms and at most half of the command
 * timeout. It passes only if an acknowledgement is missing
 * @since 0.1
 */
public record RedisAcknowledgement(int replicas, Duration timeout) {

	private static final int MOST_REPLICAS = 100;

	public RedisAcknowledgement {
		if (replicas < 0 || replicas > MOST_REPLICAS) {
			throw new IllegalArgumentException("'replicas' must be 1 to %d, or 0 for the disk of the server, but is %d"
				.formatted(MOST_REPLICAS, replicas));
		}
		if (timeout.toMillis() < 1) {
			throw new IllegalArgumentException("'timeout' must be at least 1 ms but is " + timeout);
		}
	}

	/**
	 * An acknowledgement by replicas.
	 * @param replicas the number of replicas, at least one
	 * @param timeout how long to wait for them
	 * @return the acknowledgement
	 */
	public static RedisAcknowledgement byReplicas(int replicas, Duration timeout) {
		if (replicas < 1) {
			throw new IllegalArgumentException("'replicas' must be at least 1 but is " + replicas);
		}
		return new RedisAcknowledgement(replicas, timeout);
	}

	/**
	 * An acknowledgement by the disk of the server. It needs Redis 7.2 or Valkey, and
	 * {@code appendonly yes}.
	 * @param timeout how long to wait for the disk
	 * @return the acknowledgement
	 */
	public static RedisAcknowledgement byFsync(Duration timeout) {
		return new RedisAcknowledgement(0, timeout);
	}

	WaitCommand command() {
		return new WaitCommand(this.replicas, this.timeout);
	}

}
