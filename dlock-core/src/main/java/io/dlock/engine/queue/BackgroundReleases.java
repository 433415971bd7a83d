package io.dlock.engine.queue;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * The releases in the background of locks whose holders have no place in the queue of the
 * key: fair and shared locks, and permits.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the futures are kept
public final class BackgroundReleases {

	/** All that are under way, by storage key. */
	private final Map<String, CompletableFuture<?>> underWay = new ConcurrentHashMap<>();

	/**
	 * Begin a release.
	 * @param storageKey the storage key
	 * @return ends the release
	 */
	Runnable begin(String storageKey) {
		CompletableFuture<@Nullable Void> release = new CompletableFuture<>();
		this.underWay.merge(storageKey, release, (before, added) -> CompletableFuture.allOf(before, added));
		return () -> {
			release.complete(null);
			this.underWay.computeIfPresent(storageKey, (key, all) -> all.isDone() ? null : all);
		};
	}

	/**
	 * The releases that are under way now.
	 * @param storageKey the storage key
	 * @return completes with the last of them, or {@code null} if there is none
	 */
	public @Nullable CompletableFuture<?> find(String storageKey) {
		return this.underWay.get(storageKey);
	}

	public boolean isEmpty() {
		return this.underWay.isEmpty();
	}

}
