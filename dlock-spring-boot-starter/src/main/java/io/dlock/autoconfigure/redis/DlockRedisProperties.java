package io.dlock.autoconfigure.redis;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration of locks in Redis.
 *
 * @param prefix Beginning of the name of every Redis key of the locks. Instances that
 * exclude each other need the same prefix
 * @since 0.1
 */
@ConfigurationProperties("dlock.redis")
public record DlockRedisProperties(@DefaultValue("dlock") String prefix) {

}
