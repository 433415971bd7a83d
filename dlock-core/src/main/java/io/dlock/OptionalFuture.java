package io.dlock;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * A future whose result is empty instead of a {@link LockBusyException}.
 */
final class OptionalFuture {

	private OptionalFuture() {
	}

	/**
	 * Follow a request. The request is cancelled if the result is completed by another
	 * call, and a lock that is granted at that moment is released.
	 * @param <T> a lock or several
	 * @param release releases what was granted
	 * @return the result
	 */
	@SuppressWarnings({ "FutureReturnValueIgnored", "ReturnValueIgnored" })
	static <T> CompletableFuture<Optional<T>> of(CompletableFuture<T> request,
			Function<T, CompletableFuture<?>> release) {
		CompletableFuture<Optional<T>> result = new CompletableFuture<>();
		request.whenComplete((granted, failure) -> {
			if (failure == null) {
				if (!result.complete(Optional.of(granted))) {
					release.apply(granted);
				}
			}
			else if (cause(failure) instanceof LockBusyException) {
				result.complete(Optional.empty());
			}
			else {
				result.completeExceptionally(failure);
			}
		});
		result.whenComplete((granted, failure) -> request.cancel(false));
		return result;
	}

	static @Nullable Throwable cause(@Nullable Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

}
