/**
 * Locks and fenced values in Redis. Start reading at {@link DlockRedisAutoConfiguration}.
 * {@link DlockQuorumAutoConfiguration} has locks by the majority of several servers.
 * Knows its parent package, the Redis store and the quorum.
 */
@NullMarked
package io.dlock.autoconfigure.redis;

import org.jspecify.annotations.NullMarked;
