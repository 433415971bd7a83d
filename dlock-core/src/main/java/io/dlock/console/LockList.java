package io.dlock.console;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.LockInfo;

/**
 * The locks of a store, or some of them.
 *
 * @param locks the locks, sorted by key
 * @param complete whether these are all locks; otherwise there may be more
 * @param problem why there is no list, or {@code null}
 * @since 0.1
 */
public record LockList(List<LockInfo> locks, boolean complete, @Nullable String problem) {

	public LockList {
		locks = List.copyOf(locks);
	}

}
