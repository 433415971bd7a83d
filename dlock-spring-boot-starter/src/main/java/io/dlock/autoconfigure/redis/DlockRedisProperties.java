package io.dlock.autoconfigure.redis;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.dlock.store.redis.RedisAcknowledgement;

/**
 * Configuration of locks in Redis.
 *
 * @param prefix Beginning of the name of every Redis key of the locks. Instances that
 * exclude each other need the same prefix
 * @param acknowledge Acknowledgement that each lock needs when it is granted or renewed:
 * none, that of replicas, or that of the disk of the server, which needs Redis 7.2 or
 * Valkey
 * @param acknowledgeReplicas Number of replicas that must acknowledge a lock
 * @param acknowledgeTimeout Time to wait for the acknowledgement. By default a quarter of
 * the command timeout, at most half of it
 * @since 0.1
 */
@ConfigurationProperties("dlock.redis")
public record DlockRedisProperties(@DefaultValue("dlock") String prefix,
		@DefaultValue("none") AcknowledgeMode acknowledge, @DefaultValue("1") int acknowledgeReplicas,
		@Nullable Duration acknowledgeTimeout) {

	@Nullable RedisAcknowledgement acknowledgement(Duration commandTimeout) {
		Duration timeout = (this.acknowledgeTimeout != null) ? this.acknowledgeTimeout
				: Duration.ofMillis(Math.max(1, commandTimeout.toMillis() / 4));
		RedisAcknowledgement byReplicas = RedisAcknowledgement.byReplicas(this.acknowledgeReplicas, timeout);
		return switch (this.acknowledge) {
			case NONE -> null;
			case REPLICAS -> byReplicas;
			case FSYNC -> RedisAcknowledgement.byFsync(timeout);
		};
	}

}
