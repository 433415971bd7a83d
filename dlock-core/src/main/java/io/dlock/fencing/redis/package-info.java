/**
 * Fencing of data in Redis. Start reading at {@link FencedValues}, which has the scripts.
 * Knows {@code io.dlock.fencing}, {@code io.dlock} and how keys are written, but neither
 * the stores nor the engine.
 */
@NullMarked
package io.dlock.fencing.redis;

import org.jspecify.annotations.NullMarked;
