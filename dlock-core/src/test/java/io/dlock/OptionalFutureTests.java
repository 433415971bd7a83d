package io.dlock;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OptionalFutureTests {

	/**
	 * The caller gives up while the grant is on its way, so that nothing can be
	 * cancelled.
	 */
	@Test
	void lockThatIsGrantedTooLateIsReleased() {
		CompletableFuture<String> request = new CompletableFuture<>() {

			@Override
			public boolean cancel(boolean interrupt) {
				return false;
			}

		};
		List<String> released = new ArrayList<>();
		CompletableFuture<Optional<String>> result = OptionalFuture.of(request, (lock) -> {
			released.add(lock);
			return CompletableFuture.completedFuture(null);
		});
		result.cancel(false);
		request.complete("lock");
		assertThat(released).containsExactly("lock");
	}

}
