/**
 * Locks in Redis, over Spring Data Redis with Lettuce or Jedis. Start reading at
 * {@link RedisLockStore} and {@link RedisLockScripts}; the connections are in
 * {@code connection}. Knows the SPI only.
 */
@NullMarked
package io.dlock.store.redis;

import org.jspecify.annotations.NullMarked;

import io.dlock.store.redis.connection.RedisConnectionsFactory;
