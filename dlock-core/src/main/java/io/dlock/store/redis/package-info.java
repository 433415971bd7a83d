/**
 * Locks in Redis, over Spring Data Redis with Lettuce or Jedis.
 */
@NullMarked
package io.dlock.store.redis;

import org.jspecify.annotations.NullMarked;
