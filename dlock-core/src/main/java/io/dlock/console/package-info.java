/**
 * The operator's view of the locks: look at them, take one away from its holder, check
 * the store, count locks for gauges. Start with {@link io.dlock.console.LockConsole}.
 * <p>
 * Knows only {@code io.dlock}. The engine implements it; the endpoint and the health
 * indicator of the starter use it.
 */
@NullMarked
package io.dlock.console;

import org.jspecify.annotations.NullMarked;
