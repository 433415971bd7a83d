/**
 * The console: a page beside the endpoint {@code dlocks} for the locks, their holders and
 * the latest incidents of a process. Start reading at
 * {@link io.dlock.autoconfigure.actuate.console.DlocksConsole}. Nothing of it exists
 * unless {@code dlock.console.enabled} is set. Knows the endpoint and the console of the
 * registry, but no store.
 */
@NullMarked
package io.dlock.autoconfigure.actuate.console;

import org.jspecify.annotations.NullMarked;
