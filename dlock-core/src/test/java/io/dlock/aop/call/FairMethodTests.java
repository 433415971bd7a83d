package io.dlock.aop.call;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.store.memory.Waiting;
import io.dlock.test.Patience;
import io.dlock.test.ShortTurns;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Fair methods whose callers wait without a thread.
 */
@Timeout(300)
public class FairMethodTests extends AbstractDistributedLockedTests {

	private static final int CALLS = 9;

	private static final int CANCELLED = 4;

	static class Turnstile {

		private final List<Integer> passed = Collections.synchronizedList(new ArrayList<>());

		@DistributedLocked(name = "turnstile", key = "#round", waitTime = "30s", fair = true)
		public Mono<Boolean> mono(String round, int number) {
			return Mono.fromSupplier(() -> this.passed.add(number));
		}

		@DistributedLocked(name = "turnstile", key = "#round", waitTime = "30s", fair = true)
		public Flux<Boolean> flux(String round, int number) {
			return Flux.defer(() -> Flux.just(this.passed.add(number)));
		}

		@DistributedLocked(name = "turnstile", key = "#round", waitTime = "30s", fair = true)
		public CompletableFuture<Boolean> stage(String round, int number) {
			return CompletableFuture.completedFuture(this.passed.add(number));
		}

		public List<Integer> getPassed() {
			return this.passed;
		}

	}

	private final Turnstile turnstile = bean(Turnstile.class);

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().untilAsserted(() -> assertThat(this.store.inspection().list(10).locks()).isEmpty());
	}

	private CompletableFuture<?> call(String round, int number) {
		return switch (number % 3) {
			case 0 -> this.turnstile.flux(round, number).collectList().toFuture();
			case 1 -> this.turnstile.mono(round, number).toFuture();
			default -> this.turnstile.stage(round, number);
		};
	}

	@Test
	void callsAreServedInTheirOrderAlthoughOneGivesUp() {
		int[] round = new int[1];
		ShortTurns.await(() -> areServedInOrder("round" + round[0]++));
	}

	private boolean areServedInOrder(String round) {
		this.turnstile.getPassed().clear();
		holdElsewhere("turnstile:" + round);
		List<CompletableFuture<?>> calls = new ArrayList<>();
		for (int i = 0; i < CALLS; i++) {
			int queued = i + 1;
			calls.add(call(round, i));
			Awaitility.await().until(() -> Waiting.processes(this.store, "turnstile:" + round) == queued);
		}
		calls.remove(CANCELLED).cancel(false);
		Awaitility.await().until(() -> Waiting.processes(this.store, "turnstile:" + round) == CALLS - 1);
		this.store.release("turnstile:" + round, "elsewhere");
		assertThat(CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)))
			.succeedsWithin(Patience.EVENTUALLY);
		return this.turnstile.getPassed()
			.equals(IntStream.range(0, CALLS).filter((i) -> i != CANCELLED).boxed().toList());
	}

}
