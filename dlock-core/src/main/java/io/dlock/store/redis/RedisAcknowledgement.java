package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreMisconfiguredException;

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
			throw new IllegalArgumentException(
					"The timeout of an acknowledgement must be at least 1 ms but is " + timeout);
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

	boolean isFsync() {
		return this.replicas == 0;
	}

	String command() {
		return isFsync() ? "WAITAOF" : "WAIT";
	}

	/**
	 * The arguments of the command.
	 */
	List<Long> arguments() {
		long millis = this.timeout.toMillis();
		return isFsync() ? List.of(1L, 0L, millis) : List.of((long) this.replicas, millis);
	}

	/**
	 * The answer of a script that is behind its acknowledgement. Only a grant or a
	 * renewal needs one, which scripts answer by a 1.
	 * @param answer the answer of the script, or the exception
	 * @param wait the answer of the command behind the script, a number or a list that
	 * begins with it, or the exception
	 * @return the answer, or the exception if the acknowledgement is missing
	 */
	Object confirmed(Object answer, Supplier<Object> wait) {
		if (answer instanceof RuntimeException || number(answer) != 1) {
			return answer;
		}
		return Objects.requireNonNullElse(missing(wait.get()), answer);
	}

	private @Nullable RedisUnacknowledgedException missing(Object wait) {
		if (wait instanceof RuntimeException ex) {
			return RedisUnacknowledgedException.unanswered(command(), ex);
		}
		long count = number(wait);
		if (count >= Math.max(1, this.replicas)) {
			return null;
		}
		long millis = this.timeout.toMillis();
		return new RedisUnacknowledgedException(isFsync()
				? "Redis has not written the lock to its disk within %d ms, so that a restart may forget it: check its disk"
					.formatted(millis)
				: "%d of %d replicas acknowledged the lock within %d ms, so that a failover may forget it: check that the replicas are connected and keep up"
					.formatted(count, this.replicas, millis));
	}

	private static long number(Object answer) {
		return RedisAnswers.number((answer instanceof List<?> list) ? list.get(0) : answer);
	}

	/**
	 * The failure of the start if the server refuses the command.
	 */
	StoreMisconfiguredException refused(RedisUnacknowledgedException refusal) {
		return new StoreMisconfiguredException(
				"Locks need an acknowledgement of Redis (dlock.redis.acknowledge), but it does not run %s: %s."
					.formatted(command(), refusal.getMessage()),
				(isFsync() ? "WAITAOF needs Redis 7.2 or Valkey, appendonly yes and the right +waitaof: provide them"
						: "Use a server that has WAIT, and grant the user of the locks +wait")
						+ ", or set dlock.redis.acknowledge=none.",
				refusal);
	}

}
