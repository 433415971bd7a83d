/**
 * Fencing of data in Redis.
 */
@NullMarked
package io.dlock.fencing.redis;

import org.jspecify.annotations.NullMarked;
