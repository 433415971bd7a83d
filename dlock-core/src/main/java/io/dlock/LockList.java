package io.dlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The locks of a store, or some of them.
 *
 * @param locks the locks, by their keys
 * @param complete whether these are all; otherwise there may be more
 * @param problem why the store could not be asked, or {@code null}
 * @since 0.1
 */
public record LockList(List<LockInfo> locks, boolean complete, @Nullable String problem) {

	public LockList {
		locks = List.copyOf(locks);
	}

}
