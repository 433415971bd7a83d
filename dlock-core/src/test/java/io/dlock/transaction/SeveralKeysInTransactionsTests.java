package io.dlock.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockLostException;
import io.dlock.OnLost;
import io.dlock.test.ForcedLoss;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * R46, R47, R48 for methods that lock several keys.
 */
@Timeout(120)
public class SeveralKeysInTransactionsTests extends AbstractTransactionTests {

	static class Sets {

		@DistributedLocked(keys = "#keys")
		@Transactional
		public void around(List<String> keys, Runnable body) {
			body.run();
		}

		@DistributedLocked(keys = "#keys")
		public void inside(List<String> keys, Runnable body) {
			body.run();
		}

		@DistributedLocked(keys = "#keys", onLost = OnLost.IGNORE)
		public void careless(List<String> keys, Runnable body) {
			body.run();
		}

		@DistributedLocked(keys = "#keys")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void leaving(List<String> keys, Runnable body) {
			body.run();
		}

		@DistributedLocked(keys = "#keys", waitTime = "20s")
		public <T> CompletableFuture<T> stage(List<String> keys, Supplier<CompletableFuture<T>> body) {
			return body.get();
		}

	}

	private static final List<String> BOTH = List.of("b", "a");

	private Sets sets;

	@BeforeEach
	void register() {
		this.context.registerBean(Sets.class);
	}

	private void startWith(InsideTransaction inside, CommitGuard guard) {
		start((postProcessor) -> {
			postProcessor.setInsideTransaction(inside);
			postProcessor.setCommitGuard(() -> guard);
		});
		this.sets = this.context.getBean(Sets.class);
	}

	private void startWith(InsideTransaction inside) {
		startWith(inside, (transaction, lock) -> {
		});
	}

	private boolean isHeld(String key) {
		return this.registry.find(key).isPresent();
	}

	private boolean areHeld() {
		return isHeld("a") && isHeld("b");
	}

	private void nothingIsHeld() {
		assertThat(isHeld("a") || isHeld("b") || isHeld("c")).isFalse();
		assertThat(LockContext.all()).isEmpty();
	}

	private void lose(String key) {
		ForcedLoss.of(this.registry, Objects.requireNonNull(LockContext.find(key)));
	}

	@Test
	void r46TransactionOfTheMethodEndsInsideAllLocks() {
		startWith(InsideTransaction.FAIL);
		this.sets.around(BOTH, () -> {
			insert();
			assertThat(areHeld()).isTrue();
		});
		assertThat(entries()).isOne();
		nothingIsHeld();
	}

	@Test
	void r47AllLocksAreKeptUntilTheCommit() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.sets.inside(BOTH, this::insert);
			assertThat(areHeld()).isTrue();
			this.sets.inside(List.of("b", "a", "c"), () -> assertThat(LockContext.all()).hasSize(5));
			assertThat(isHeld("c")).isTrue();
			inNewTransaction(() -> assertThat(areHeld()).isTrue());
			transaction(TransactionDefinition.PROPAGATION_NOT_SUPPORTED)
				.executeWithoutResult((status) -> assertThat(areHeld()).isTrue());
		});
		assertThat(entries()).isOne();
		assertThat(warnings()).singleElement().asString().contains("Sets.inside");
		nothingIsHeld();
	}

	@Test
	void r47AllLocksAreReleasedAfterTheRollback() {
		startWith(InsideTransaction.DEFER);
		transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			this.sets.inside(BOTH, this::insert);
			assertThat(areHeld()).isTrue();
			status.setRollbackOnly();
		});
		assertThat(entries()).isZero();
		nothingIsHeld();
	}

	@Test
	void r47MethodThatLeavesTheTransactionReleasesAllLocks() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.sets.leaving(BOTH, this::insert);
			nothingIsHeld();
		});
		assertThat(warnings()).isEmpty();
	}

	@Test
	void r47CallIsRefusedUnlessAllKeysAreHeld() {
		startWith(InsideTransaction.FAIL);
		this.sets.inside(BOTH, () -> inTransaction(() -> {
			this.sets.inside(BOTH, this::insert);
			assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> this.sets.inside(List.of("a", "c"), this::insert));
		}));
		assertThat(entries()).isOne();
		nothingIsHeld();
	}

	@Test
	void r48LossOfOneRollsBack() {
		startWith(InsideTransaction.DEFER);
		for (String key : BOTH) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.sets.around(BOTH, () -> {
				insert();
				lose(key);
			})).withMessageContaining("is rolled back").satisfies((ex) -> assertThat(ex.key()).isEqualTo(key));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
				this.sets.inside(BOTH, this::insert);
				lose(key);
			})).withMessageContaining("is rolled back");
		}
		assertThat(entries()).isZero();
		nothingIsHeld();
	}

	@Test
	void r48IgnoredLossOfOneDoesNotRollBack() {
		startWith(InsideTransaction.DEFER);
		for (String key : BOTH) {
			inTransaction(() -> this.sets.careless(BOTH, () -> {
				insert();
				lose(key);
			}));
		}
		assertThat(entries()).isEqualTo(2);
		nothingIsHeld();
	}

	@Test
	void r48GuardChecksEachLock() {
		List<String> checked = new ArrayList<>();
		startWith(InsideTransaction.DEFER, (transaction, lock) -> {
			checked.add(lock.key());
			assertThat(this.registry.ownerOf(lock)).isPresent();
		});
		this.sets.around(BOTH, this::insert);
		assertThat(checked).containsExactlyInAnyOrder("a", "b");
		checked.clear();
		inTransaction(() -> this.sets.inside(BOTH, this::insert));
		assertThat(checked).containsExactlyInAnyOrder("a", "b");
		checked.clear();
		inTransaction(() -> this.sets.stage(BOTH, () -> CompletableFuture.completedFuture("done")).join());
		assertThat(checked).containsExactlyInAnyOrder("a", "b");
	}

	@Test
	void r47LocksOfAStageAreKeptUntilTheCommit() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			assertThat(this.sets.stage(BOTH, () -> CompletableFuture.completedFuture("done")).join()).isEqualTo("done");
			assertThat(areHeld()).isTrue();
			this.sets.inside(List.of("a"), this::insert);
			inNewTransaction(() -> this.sets.inside(BOTH, this::insert));
		});
		assertThat(entries()).isEqualTo(2);
		nothingIsHeld();
	}

	@Test
	void r47StagesWithAKeyInCommonRunOneAfterTheOther() {
		startWith(InsideTransaction.DEFER);
		CompletableFuture<String> first = new CompletableFuture<>();
		CompletableFuture<String> second = new CompletableFuture<>();
		List<String> begun = new CopyOnWriteArrayList<>();
		inTransaction(() -> {
			CompletableFuture<String> ofFirst = this.sets.stage(List.of("a", "b"), () -> {
				begun.add("first");
				return first;
			});
			Awaitility.await().until(this::areHeld);
			CompletableFuture<String> ofSecond = this.sets.stage(List.of("c", "b"), () -> {
				begun.add("second");
				return second;
			});
			CompletableFuture<String> ofThird = this.sets.stage(List.of("c"), () -> {
				begun.add("third");
				return CompletableFuture.completedFuture("done");
			});
			Awaitility.await().during(Duration.ofMillis(200)).until(() -> begun.size() == 1);
			first.complete("done");
			assertThat(ofFirst).succeedsWithin(Patience.EVENTUALLY);
			Awaitility.await().until(() -> begun.size() == 2);
			assertThat(ofThird).isNotDone();
			second.complete("done");
			assertThat(CompletableFuture.allOf(ofSecond, ofThird)).succeedsWithin(Patience.EVENTUALLY);
			assertThat(areHeld() && isHeld("c")).isTrue();
		});
		assertThat(begun).containsExactly("first", "second", "third");
		nothingIsHeld();
	}

	@Test
	void r47StageInsideAStageWithFewerKeysIsNested() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			CompletableFuture<String> inner = new CompletableFuture<>();
			this.sets.inside(List.of("a"), () -> assertThat(this.sets.stage(BOTH, () -> {
				inner.complete("done");
				return inner;
			})).succeedsWithin(Patience.EVENTUALLY));
			assertThat(areHeld()).isTrue();
		});
		nothingIsHeld();
	}

}
