package io.dlock.console;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The result of a check of the store.
 *
 * @param store the kind and address of the store, without credentials
 * @param failure why no lock can be acquired, or {@code null} if one was
 * @param took the time to acquire and release a lock, or to fail
 * @param server the product and version of the server, or {@code null} if unknown
 * @param role the role of the server (master, replica, primary, standby), or {@code null}
 * if it has none or it is unknown
 * @param warnings settings of the server that may cost a lock and failed diagnoses, one
 * sentence each
 * @since 0.1
 * @see LockConsole#check
 */
public record StoreReport(String store, @Nullable String failure, Duration took, @Nullable String server,
		@Nullable String role, List<String> warnings) {

	public StoreReport {
		warnings = List.copyOf(warnings);
	}

}
