/**
 * Locks in Redis, over Spring Data Redis with Lettuce or Jedis. Start reading at
 * {@link RedisLockStore} and {@link RedisLockScripts}; {@link RedisConnectionsFactory}
 * leads to the connections. Knows the SPI only.
 */
@NullMarked
package io.dlock.store.redis;

import org.jspecify.annotations.NullMarked;
