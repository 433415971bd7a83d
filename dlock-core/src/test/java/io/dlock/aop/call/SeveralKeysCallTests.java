package io.dlock.aop.call;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.test.CapturedLog;
import io.dlock.test.ForcedLoss;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Calls that lock several keys, all or none, and wait for them.
 */
@Timeout(120)
public class SeveralKeysCallTests extends AbstractSeveralKeysCallTests {

	@Test
	void allAreHeldWhileTheMethodRunsAndNoneAfterwards() {
		List<Long> tokens = new ArrayList<>();
		assertThat(this.stock.run(BOTH, () -> {
			LockContext.all().forEach((handle) -> tokens.add(handle.token()));
			assertThat(LockHandle.current()).map(LockHandle::key).hasValue("b");
			assertThat(LockContext.find("a")).isNotNull();
			return held();
		})).containsExactly("a", "b");
		assertThat(tokens).hasSize(2).doesNotHaveDuplicates();
		assertThat(LockContext.all()).isEmpty();
		assertThat(isFree("a") && isFree("b")).isTrue();
	}

	@Test
	void oneBusyLockIsABusyCallThatKeepsNoOther() {
		holdElsewhere("b");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.stock.run(BOTH, () -> "ran"))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("b"));
		assertThat(this.stock.skipped(BOTH)).isNull();
		assertThat(this.stock.replaced(BOTH)).isEqualTo("instead of [b, a]");
		assertThat(this.stock.getRuns()).isZero();
		assertThat(LockContext.all()).isEmpty();
		Awaitility.await().until(() -> isFree("a"));
	}

	@Test
	void keyThatTheCallerHoldsIsNested() {
		String token = this.stock.run(List.of("b"), () -> this.stock.run(BOTH,
				() -> this.stock.run(BOTH, () -> String.valueOf(LockContext.find("b"))) + isFree("a")));
		assertThat(token).contains("key=b").endsWith("false");
		this.stock.run(List.of("a"), () -> {
			assertThat(this.stock.run(BOTH, SeveralKeysCallTests::held)).containsExactly("a", "a", "b");
			assertThat(isFree("b")).isTrue();
			assertThat(isFree("a")).isFalse();
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.stock.notReentrant(BOTH));
			return null;
		});
		awaitNothingLeft();
	}

	@Test
	void keysThatAreAllHeldAreInNoWrongOrder() {
		try (CapturedLog log = CapturedLog.of("io.dlock.engine")) {
			this.stock.run(BOTH, () -> this.stock.run(BOTH, () -> "ran"));
			assertThat(log.events()).isEmpty();
			this.stock.run(List.of("b"), () -> this.stock.run(BOTH, () -> "ran"));
			assertThat(log.events()).singleElement()
				.asString()
				.contains("Lock 'a' is requested by a thread that holds 'b'");
		}
	}

	@Test
	void lossOfOneIsTheLossOfAll() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.stock.losing(BOTH, () -> lose("a")))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("a"));
		assertThat(this.stock.ignoring(BOTH, () -> {
			lose("b");
			return "done";
		})).isEqualTo("done");
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.stock.interrupted(BOTH, () -> ForcedLoss.of(this.registry, "b")))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
		assertThat(Thread.interrupted()).isFalse();
		awaitNothingLeft();
	}

	@Test
	void failureOfTheMethodHasTheLossAsASuppressedOne() {
		IllegalStateException failure = new IllegalStateException("of the method");
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.stock.losing(BOTH, () -> {
			lose("a");
			throw failure;
		})).isSameAs(failure);
		assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
	}

	@Test
	void minHoldIsThatOfEachLock() {
		this.stock.atLeast(BOTH);
		assertThat(isFree("a") || isFree("b")).isFalse();
		assertThat(LockContext.all()).isEmpty();
	}

	@Test
	void eventsAreThoseOfEachLockAndHaveTheNameOfTheMethod() {
		List<String> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(
				(event) -> events.add(event.getClass().getSimpleName() + " " + event.key() + " " + event.name()));
		this.stock.run(BOTH, () -> "ran");
		Awaitility.await()
			.untilAsserted(() -> assertThat(events).containsExactlyInAnyOrder("Acquired a Stock.run",
					"Acquired b Stock.run", "Released a Stock.run", "Released b Stock.run"));
	}

	@Test
	void logShowsTheTokensInTheOrderOfTheKeys() {
		this.stock.run(BOTH, () -> {
			long a = Objects.requireNonNull(LockContext.find("a")).token();
			long b = Objects.requireNonNull(LockContext.find("b")).token();
			assertThat(MDC.get("dlock.token")).isEqualTo(b + ", " + a);
			return null;
		});
	}

	@Test
	void callsInOppositeOrdersDoNotWaitForEachOther() {
		List<CompletableFuture<Void>> callers = new ArrayList<>();
		int[] balance = new int[1];
		for (List<String> order : List.of(BOTH, List.of("a", "b"))) {
			callers.add(CompletableFuture.runAsync(() -> {
				for (int i = 0; i < 500; i++) {
					this.stock.runLater(order, () -> balance[0]++);
				}
			}));
		}
		callers.forEach((caller) -> assertThat(caller).succeedsWithin(Patience.EVENTUALLY));
		assertThat(balance[0]).isEqualTo(1000);
	}

}
