/**
 * Fencing of what is written to Redis.
 */
@NullMarked
package io.dlock.fencing.redis;

import org.jspecify.annotations.NullMarked;
