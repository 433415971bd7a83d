package io.dlock.aop.call;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import io.dlock.LockLostException;
import io.dlock.ReactiveLockContext;
import io.dlock.test.ForcedLoss;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Stages and publishers that lock several keys, all or none.
 */
@Timeout(120)
public class SeveralKeysAsyncTests extends AbstractSeveralKeysCallTests {

	@Test
	void stageHoldsAllUntilItsWorkIsDone() {
		CompletableFuture<String> work = new CompletableFuture<>();
		List<List<String>> held = Collections.synchronizedList(new ArrayList<>());
		CompletableFuture<String> result = this.stock.stage(BOTH, () -> {
			held.add(held());
			return work;
		});
		Awaitility.await().until(() -> !held.isEmpty());
		assertThat(held.get(0)).containsExactly("a", "b");
		assertThat(isFree("a") || isFree("b")).isFalse();
		work.complete("done");
		assertThat(result).succeedsWithin(Patience.EVENTUALLY).isEqualTo("done");
		assertThat(isFree("a") && isFree("b")).isTrue();
	}

	@Test
	void stageIsNestedInWhatItsCallerHolds() {
		this.stock.run(List.of("a"), () -> {
			CompletableFuture<List<String>> result = this.stock.stage(BOTH,
					() -> CompletableFuture.completedFuture(held()));
			assertThat(result).succeedsWithin(Patience.EVENTUALLY).isEqualTo(List.of("a", "b"));
			assertThat(isFree("a")).isFalse();
			Awaitility.await().until(() -> isFree("b"));
			return null;
		});
		awaitNothingLeft();
	}

	@Test
	void cancelledStageKeepsNoLock() {
		holdElsewhere("b");
		CompletableFuture<String> result = this.stock.stage(BOTH, () -> CompletableFuture.completedFuture("never"));
		Awaitility.await().until(() -> !isFree("a"));
		result.cancel(true);
		Awaitility.await().atMost(LESS_THAN_THE_WAIT_TIME).until(() -> isFree("a"));
	}

	@Test
	void asyncMethodHoldsAll() {
		assertThat(this.stock.async(BOTH)).succeedsWithin(Patience.EVENTUALLY).isEqualTo(List.of("a", "b"));
		awaitNothingLeft();
	}

	@Test
	void lossOfOneCancelsTheStage() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.stock.interruptedStage(BOTH, work);
		Awaitility.await().until(() -> work.getNumberOfDependents() > 0);
		assertFailsWhenOneIsLost(result);
		assertThat(work).isCancelled();
		awaitNothingLeft();
	}

	private void assertFailsWhenOneIsLost(CompletableFuture<String> result) {
		Awaitility.await().until(() -> !isFree("b"));
		ForcedLoss.of(this.registry, "b");
		assertThat(result).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class);
	}

	@Test
	void publisherHoldsAllAndItsContextHasThem() {
		assertThat(this.stock.flux(BOTH).collectList().block(Patience.EVENTUALLY)).containsExactly("a", "b");
		assertThat(isFree("a") && isFree("b")).isTrue();
		String token = this.stock
			.mono(BOTH,
					Mono.deferContextual(
							(context) -> Mono.just(ReactiveLockContext.find(context, "a").orElseThrow().token()
									+ ReactiveLockContext.current(context).orElseThrow().key())))
			.block(Patience.EVENTUALLY);
		assertThat(token).endsWith("b");
		holdElsewhere("b");
		assertThat(this.stock.flux(BOTH).collectList().block(Patience.EVENTUALLY)).isEmpty();
		Awaitility.await().until(() -> isFree("a"));
	}

	@Test
	void publisherIsNestedInWhatItsSubscriberHolds() {
		Mono<List<String>> inner = this.stock.flux(BOTH).collectList();
		assertThat(this.stock.mono(List.of("a"), inner.map((held) -> {
			assertThat(isFree("a")).isFalse();
			return held;
		})).block(Patience.EVENTUALLY)).containsExactly("a", "b");
		awaitNothingLeft();
	}

	@Test
	void cancelledSubscriptionKeepsNoLock() {
		holdElsewhere("b");
		Disposable waiting = this.stock.mono(BOTH, Mono.never()).subscribe();
		Awaitility.await().until(() -> !isFree("a"));
		waiting.dispose();
		Awaitility.await().atMost(LESS_THAN_THE_WAIT_TIME).until(() -> isFree("a"));
		this.store.clear();
		Disposable running = this.stock.mono(BOTH, Mono.never()).subscribe();
		Awaitility.await().until(() -> !isFree("b"));
		running.dispose();
		awaitNothingLeft();
	}

	@Test
	void lossOfOneEndsThePublisher() {
		CompletableFuture<String> result = this.stock.interruptedMono(BOTH).toFuture();
		assertFailsWhenOneIsLost(result);
		awaitNothingLeft();
	}

	@Test
	void publisherThatIsSubscribedToTwiceLocksTheSameKeysTwice() {
		List<String> keys = new ArrayList<>(BOTH);
		Mono<List<String>> result = this.stock.mono(keys,
				Mono.deferContextual((context) -> Mono.just(keys(ReactiveLockContext.all(context)))));
		keys.clear();
		assertThat(result.block(Patience.EVENTUALLY)).containsExactly("a", "b");
		assertThat(result.block(Patience.EVENTUALLY)).containsExactly("a", "b");
	}

}
