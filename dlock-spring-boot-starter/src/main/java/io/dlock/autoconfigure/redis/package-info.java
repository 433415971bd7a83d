/**
 * Locks and fenced values in Redis. Start reading at {@link DlockRedisAutoConfiguration}.
 * Knows its parent package and the Redis store.
 */
@NullMarked
package io.dlock.autoconfigure.redis;

import org.jspecify.annotations.NullMarked;
