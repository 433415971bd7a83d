package io.dlock.autoconfigure.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import io.dlock.LockInfo;
import io.dlock.console.ForcedRelease;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockConsole;
import io.dlock.console.LockList;
import io.dlock.console.StoreReport;

/**
 * The empty console of a registry that is not one of dlock, such as a mock in a test. For
 * the auto-configurations of dlock only.
 */
public final class NoConsole implements LockConsole {

	private static final String PROBLEM = "The LockRegistry of the application is not one of dlock, and shows no locks";

	@Override
	public LocalLocks local() {
		return new LocalLocks(List.of(), List.of());
	}

	@Override
	public LockList list(int limit) {
		return new LockList(List.of(), false, PROBLEM);
	}

	@Override
	public Optional<LockInfo> find(String key) {
		return Optional.empty();
	}

	@Override
	public ForcedRelease forceRelease(String key, long token) {
		throw new UnsupportedOperationException(PROBLEM);
	}

	@Override
	public LockList forceReleaseAll(String instance) {
		return new LockList(List.of(), false, PROBLEM);
	}

	@Override
	public StoreReport check() {
		return new StoreReport("unknown", PROBLEM, Duration.ZERO, null, null, List.of());
	}

}
