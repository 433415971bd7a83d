package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreMisconfiguredException;

/**
 * The command behind a script, {@code WAIT} or {@code WAITAOF}, whose answer tells
 * whether the write of the script is acknowledged.
 *
 * @param replicas the number of replicas; zero for the disk of the server
 * @param timeout how long to wait for them
 */
public record WaitCommand(int replicas, Duration timeout) {

	boolean isFsync() {
		return this.replicas == 0;
	}

	String name() {
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
			return RedisUnacknowledgedException.unanswered(name(), ex);
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
	public StoreMisconfiguredException refused(RedisUnacknowledgedException refusal) {
		return new StoreMisconfiguredException(
				"Locks need an acknowledgement of Redis (dlock.redis.acknowledge), but it does not run %s: %s."
					.formatted(name(), refusal.getMessage()),
				(isFsync() ? "WAITAOF needs Redis 7.2 or Valkey, appendonly yes and the right +waitaof: provide them"
						: "Use a server that has WAIT, and grant the user of the locks +wait")
						+ ", or set dlock.redis.acknowledge=none.",
				refusal);
	}

}
