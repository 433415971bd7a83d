package io.dlock;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * How the store of the locks is.
 *
 * @param store what and where it is, without credentials
 * @param failure why no lock can be taken, or {@code null} if one was
 * @param took how long it took to take a lock and to release it, or to fail
 * @param server what the server is, with its version, or {@code null} if it did not say
 * @param role the part the server plays (master, replica, primary, standby), or
 * {@code null} if it has none or did not say
 * @param warnings what may cost a lock, in sentences: settings of the server, and what
 * could not be found out
 * @since 0.1
 * @see LockConsole#check
 */
public record StoreReport(String store, @Nullable String failure, Duration took, @Nullable String server,
		@Nullable String role, List<String> warnings) {

	public StoreReport {
		warnings = List.copyOf(warnings);
	}

}
