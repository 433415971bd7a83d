package io.dlock.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.IllegalTransactionStateException;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.ReactiveLockContext;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * R46, R47, R48 for transactions that travel in the Reactor context.
 */
@Timeout(120)
class ReactiveTransactionIntegrationTests extends AbstractReactiveTransactionTests {

	@Test
	void r46LockAroundTheTransactionOfTheMethodLosesNothing() {
		start(InsideTransaction.FAIL);
		Flux.range(0, 30).flatMap((i) -> this.counter.addInItsOwnTransaction(this.id), 10).blockLast();
		assertThat(value()).isEqualTo(30);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void r47LockInsideATransactionLosesNothingIfItIsKept() {
		start(InsideTransaction.DEFER);
		Flux.range(0, 30)
			.flatMap((i) -> inTransaction(this.counter.add(this.id).delayElement(Duration.ofMillis(5))), 10)
			.blockLast();
		assertThat(value()).isEqualTo(30);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void b34LockInsideATransactionLosesUpdatesIfItIsNotKept() {
		start(InsideTransaction.IGNORE);
		Flux.range(0, 30)
			.flatMap((i) -> inTransaction(this.counter.add(this.id).delayElement(Duration.ofMillis(5))), 10)
			.blockLast();
		assertThat(value()).isLessThan(30);
		assertThat(warnings()).noneMatch((warning) -> warning.contains("dlock.transaction.inside"));
	}

	@Test
	void r47LockIsKeptUntilTheCommitAndWarnedOfOnce() {
		start(InsideTransaction.DEFER);
		for (int i = 0; i < 2; i++) {
			assertThat(inTransaction(this.counter.add(this.id).map((value) -> isHeld())).block()).isTrue();
			assertThat(isHeld()).isFalse();
		}
		assertThat(warnings()).filteredOn((warning) -> warning.contains("dlock.transaction.inside"))
			.singleElement()
			.asString()
			.contains("Counter.add");
	}

	@Test
	void r47LockIsKeptUntilTheRollback() {
		start(InsideTransaction.DEFER);
		List<Boolean> held = Collections.synchronizedList(new ArrayList<>());
		assertThatIllegalStateException().isThrownBy(() -> inTransaction(this.counter.add(this.id).map((value) -> {
			held.add(isHeld());
			throw new IllegalStateException("roll back");
		})).block()).withMessage("roll back");
		assertThat(held).containsExactly(true);
		assertThat(isHeld()).isFalse();
		assertThat(value()).isZero();
	}

	@Test
	void r47CancelledTransactionReleases() {
		start(InsideTransaction.DEFER);
		Disposable running = inTransaction(this.counter.never(this.id)).subscribe();
		Awaitility.await().until(this::isHeld);
		running.dispose();
		Awaitility.await().until(() -> !isHeld());
		Disposable kept = inTransaction(this.counter.add(this.id).then(Mono.never())).subscribe();
		Awaitility.await().until(this::isHeld);
		kept.dispose();
		Awaitility.await().until(() -> !isHeld());
	}

	@Test
	void r47CallsOfOneTransactionShareTheLock() {
		start(InsideTransaction.DEFER);
		List<Long> tokens = inTransaction(Flux.range(0, 3).concatMap((i) -> this.counter.token(this.id)).collectList())
			.block(Duration.ofSeconds(20));
		assertThat(tokens).hasSize(3).containsOnly(tokens.get(0));
		assertThat(inTransaction(Flux.merge(this.counter.token(this.id), this.counter.token(this.id)).collectList())
			.block(Duration.ofSeconds(20))).hasSize(2);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void r47NestedCallOfATransactionIsReentrant() {
		start(InsideTransaction.DEFER);
		Mono<Long> token = ReactiveLockContext.currentHandle().map(LockHandle::token);
		Mono<Boolean> same = token.zipWith(this.counter.around(this.id, token), Long::equals);
		assertThat(inTransaction(this.counter.around(this.id, same)).block()).isTrue();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void r47InnerTransactionEndsTheLocksThatWereTakenInIt() {
		start(InsideTransaction.DEFER);
		List<Boolean> held = inTransaction(inNewTransaction(this.counter.add(this.id).map((value) -> isHeld()))
			.flatMap((inside) -> Mono.fromSupplier(() -> List.of(inside, isHeld())))).block();
		assertThat(held).containsExactly(true, false);
		assertThat(inTransaction(this.counter.token(this.id)
			.then(inNewTransaction(Mono.fromSupplier(this::isHeld)))
			.flatMap((inside) -> this.counter.token(this.id).thenReturn(inside))).block()).isTrue();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void failRefusesTheSubscription() {
		start(InsideTransaction.FAIL);
		assertThatExceptionOfType(IllegalTransactionStateException.class)
			.isThrownBy(inTransaction(this.counter.add(this.id))::block)
			.withMessageContaining("Counter.add");
		assertThat(isHeld()).isFalse();
		assertThat(value()).isZero();
		assertThat(this.counter.add(this.id).block()).isOne();
	}

	@Test
	void r48LostLockThatTheTransactionKeepsRollsItBack() {
		start(InsideTransaction.DEFER);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(inTransaction(
					this.counter.add(this.id).doOnNext((value) -> ForcedLoss.of(this.registry, this.id)))::block)
			.withMessageContaining("is rolled back");
		assertThat(value()).isZero();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void r48LostLockRollsBackTheTransactionOfTheMethodIfTheManagerChecks() {
		start((postProcessor) -> {
		}, new LockCheckingTransactionManager(this.transactions));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.counter.losing(this.id)::block)
			.withMessageContaining("is rolled back");
		assertThat(value()).isZero();
		assertThat(this.counter.losingCarelessly(this.id).block()).isOne();
		assertThat(this.counter.addInItsOwnTransaction(this.id).block()).isEqualTo(2);
		assertThat(warnings()).isEmpty();
	}

	@Test
	void r48LossOfOneOfSeveralLocksRollsBack() {
		start((postProcessor) -> {
		}, new LockCheckingTransactionManager(this.transactions));
		assertThat(this.counter.addUnderTwo(this.id, () -> {
		}).block()).isOne();
		List<String> keys = new CopyOnWriteArrayList<>();
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Lost) {
				keys.add(event.key());
			}
		});
		for (String lost : List.of(this.id, "other/" + this.id)) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(this.counter.addUnderTwo(this.id, () -> {
				ForcedLoss.of(this.registry, lost);
				Awaitility.await().until(() -> keys.remove(lost));
			})::block).withMessageContaining("is rolled back").satisfies((ex) -> assertThat(ex.key()).isEqualTo(lost));
		}
		assertThat(value()).isOne();
	}

	@Test
	void r47SeveralLocksAreKeptUntilTheCommitAndSharedByCallsOfTheTransaction() {
		start(InsideTransaction.DEFER);
		Mono<Boolean> held = Mono.fromSupplier(() -> isHeld() && this.registry.find("other/" + this.id).isPresent());
		assertThat(inTransaction(this.counter.insideOfTwo(this.id, this.counter.add(this.id))
			.then(this.counter.insideOfTwo(this.id, held))
			.zipWhen((inside) -> held, Boolean::logicalAnd)).block(Duration.ofSeconds(60))).isTrue();
		assertThat(isHeld() || this.registry.find("other/" + this.id).isPresent()).isFalse();
		assertThat(value()).isOne();
	}

	@Test
	void r47NestedCallWithSeveralKeysSharesThoseOfEarlierCalls() {
		start(InsideTransaction.DEFER);
		Mono<Integer> nested = this.counter.around(this.id, this.counter.insideOfTwo(this.id, Mono.just(1)));
		assertThat(inTransaction(this.counter.token("other/" + this.id).then(nested)).block(Duration.ofSeconds(20)))
			.isOne();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void warnsAtStartOfManagerWithoutCommitCheck() {
		start(InsideTransaction.DEFER);
		assertThat(warnings()).singleElement().asString().contains(LockCheckingTransactionManager.class.getName());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.counter.losing(this.id)::block)
			.withMessageNotContaining("is rolled back");
		assertThat(value()).as("committed all the same").isOne();
	}

	@Test
	void lossCancelsAndRollsBackTheTransactionIfAskedFor() {
		start(InsideTransaction.DEFER);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.counter.interrupted(this.id)::block);
		Awaitility.await()
			.during(Duration.ofMillis(200))
			.untilAsserted(() -> assertThat(value()).as("rolled back").isZero());
	}

}
