/**
 * Locks for operators: the health indicator {@code dlock} and the actuator endpoint
 * {@code dlocks}. Start reading at {@link DlocksEndpoint} and
 * {@link DlockHealthAutoConfiguration}. Knows its parent package and the console of the
 * registry, but no store.
 */
@NullMarked
package io.dlock.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
