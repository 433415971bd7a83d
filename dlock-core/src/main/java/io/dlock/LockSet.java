package io.dlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * Several locks that are held together. They are acquired all or none, in the order of
 * their {@linkplain io.dlock.store.StorageKey storage keys}, so that two callers with
 * overlapping sets cannot wait for each other.
 * <p>
 * The set is as good as the weakest of its locks: it is valid as long as all of them are,
 * and it is lost as soon as one of them is lost. Each lock has a fencing token of its
 * own. The set has none, since the highest of them would not increase with every new
 * holder of a key.
 * <p>
 * Closing a set more than once has no further effect.
 *
 * @since 0.1
 */
public final class LockSet implements AutoCloseable {

	/**
	 * The largest number of keys of a set.
	 */
	public static final int MAX_KEYS = 64;

	private final List<LockHandle> handles;

	private final @Nullable Runnable release;

	private LockSet(List<LockHandle> handles, @Nullable Runnable release) {
		this.handles = handles;
		this.release = release;
	}

	/**
	 * Create a set of held locks.
	 * @param handles the handles, in the order in which they were acquired
	 * @return the set
	 */
	public static LockSet of(List<? extends LockHandle> handles) {
		return new LockSet(List.copyOf(handles), null);
	}

	/**
	 * Create a set of held locks that are released together.
	 * @param handles the handles, in the order in which they were acquired
	 * @param release releases all of them, each time as {@link #release()} says
	 * @return the set
	 */
	public static LockSet of(List<? extends LockHandle> handles, Runnable release) {
		return new LockSet(List.copyOf(handles), release);
	}

	/**
	 * The handles of all locks.
	 * @return the handles in the order in which the locks were acquired
	 */
	public List<LockHandle> handles() {
		return this.handles;
	}

	/**
	 * The keys of all locks.
	 * @return the keys in the order in which the locks were acquired, without duplicates
	 */
	public List<String> keys() {
		return this.handles.stream().map(LockHandle::key).toList();
	}

	/**
	 * The handle of one of the locks, for its fencing token.
	 * @param key the key as it was requested
	 * @return the handle
	 * @throws IllegalArgumentException if the key is not one of this set
	 */
	public LockHandle handle(String key) {
		return this.handles.stream()
			.filter((handle) -> handle.key().equals(key))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException(
					"'%s' is not a key of %s".formatted(LockRequest.abbreviate(key), this)));
	}

	/**
	 * Whether all locks are held, see {@link LockHandle#isValid()}.
	 * @return {@code true} until the set is released or a lock is lost
	 */
	public boolean isValid() {
		return this.handles.stream().allMatch(LockHandle::isValid);
	}

	/**
	 * The time for which all locks are still held if none is renewed.
	 * @return the shortest remaining validity, zero if the set is released or a lock is
	 * lost
	 */
	public Duration remaining() {
		return this.handles.stream().map(LockHandle::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
	}

	/**
	 * Check that all locks are held, directly before a step that must not happen without
	 * them.
	 * @throws LockLostException if a lease is over
	 * @throws IllegalStateException if this set has been released
	 */
	public void assertHeld() {
		this.handles.forEach(LockHandle::assertHeld);
	}

	/**
	 * Renew the leases of all locks now, one after the other, and wait for the answers of
	 * the store, as {@link LockHandle#renewNow()} does for one. It stops at the first
	 * failure.
	 * @throws LockLostException if a lease is over or its renewal is refused
	 * @throws LockStoreException if the store did not answer; the locks are held for
	 * their {@linkplain #remaining() remaining} time
	 * @throws IllegalStateException if this set has been released
	 */
	public void renewNow() {
		this.handles.forEach(LockHandle::renewNow);
	}

	/**
	 * Add a listener that is called when the first of the locks is lost, as
	 * {@link LockHandle#onLost} does. It is called at most once.
	 * @param listener called with the handle of the lost lock
	 */
	public void onLost(Consumer<? super LockHandle> listener) {
		AtomicBoolean told = new AtomicBoolean();
		this.handles.forEach((handle) -> handle.onLost((lost) -> {
			if (told.compareAndSet(false, true)) {
				listener.accept(lost);
			}
		}));
	}

	/**
	 * Release all locks, in the reverse order. A lock that is lost does not keep the
	 * others from being released.
	 * @throws LockLostException if a lease was over before the release, on the first call
	 * only; further lost locks are suppressed exceptions
	 * @see LockHandle#release()
	 */
	public void release() {
		if (this.release != null) {
			this.release.run();
		}
		else {
			releaseEach();
		}
	}

	private void releaseEach() {
		Throwable failure = null;
		for (int i = this.handles.size() - 1; i >= 0; i--) {
			try {
				this.handles.get(i).release();
			}
			catch (RuntimeException | Error ex) {
				failure = both(failure, ex);
			}
		}
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure != null) {
			throw (RuntimeException) failure;
		}
	}

	/**
	 * As {@link #release()}.
	 */
	@Override
	public void close() {
		release();
	}

	/**
	 * As {@link #release()}, without blocking the calling thread.
	 * @return a future that completes when all locks are free for others, or
	 * exceptionally with the exception that {@link #release()} would have thrown
	 * @see LockHandle#releaseAsync()
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // its outcome is that of the result
	public CompletableFuture<@Nullable Void> releaseAsync() {
		CompletableFuture<@Nullable Throwable> outcome = CompletableFuture.completedFuture(null);
		for (int i = this.handles.size() - 1; i >= 0; i--) {
			CompletableFuture<@Nullable Void> each = this.handles.get(i).releaseAsync();
			if (each != null) { // an unstubbed mock returns null
				outcome = outcome.thenCombine(each.handle((done, ex) -> OptionalFuture.cause(ex)), LockSet::both);
			}
		}
		CompletableFuture<@Nullable Void> released = new CompletableFuture<>();
		outcome.thenAccept((failure) -> {
			if (failure != null) {
				released.completeExceptionally(failure);
			}
			else {
				released.complete(null);
			}
		});
		return released;
	}

	private static @Nullable Throwable both(@Nullable Throwable failure, @Nullable Throwable next) {
		if (failure == null || next == null) {
			return (failure != null) ? failure : next;
		}
		if (failure != next) {
			failure.addSuppressed(next);
		}
		return failure;
	}

	@Override
	public String toString() {
		return this.handles.stream()
			.map((handle) -> LockRequest.printable(LockRequest.abbreviate(handle.key())))
			.collect(Collectors.joining(", ", "LockSet[", "]"));
	}

}
