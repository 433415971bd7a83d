/**
 * Connections to Redis that run scripts, one by one or several in a round trip: of
 * Lettuce, of Jedis, or those of the application. Start reading at
 * {@link RedisConnectionsFactory} and {@link RedisConnections}. Knows nothing of keys and
 * owners. Public for {@code io.dlock.store.redis} only.
 */
@NullMarked
package io.dlock.store.redis.connection;

import org.jspecify.annotations.NullMarked;
