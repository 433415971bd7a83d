package io.dlock.aop.call;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Calls of a locked method whose lock is busy or lost.
 */
public class BusyAndLostTests extends AbstractDistributedLockedTests {

	public BusyAndLostTests() {
		super(Duration.ofMillis(50));
	}

	static class Busy {

		private int runs;

		@DistributedLocked("'busy'")
		public void throwing() {
			this.runs++;
		}

		@DistributedLocked(key = "'busy'", onBusy = OnBusy.SKIP)
		public @Nullable String skipping() {
			this.runs++;
			return "ran";
		}

		@DistributedLocked(key = "'busy'", onBusy = OnBusy.SKIP)
		public Optional<String> skippingOptional() {
			this.runs++;
			return Optional.of("ran");
		}

		@DistributedLocked(key = "'busy'", onBusy = OnBusy.SKIP)
		public OptionalLong skippingOptionalLong() {
			return OptionalLong.of(7);
		}

		@DistributedLocked(key = "'busy'", onBusy = OnBusy.SKIP)
		public void skippingVoid() {
			this.runs++;
		}

		@DistributedLocked(key = "'busy'", fallback = "instead")
		public int fallingBack(int number) {
			this.runs++;
			return number;
		}

		private int instead(int number) {
			assertThat(LockHandle.current()).isEmpty();
			return -number;
		}

		@DistributedLocked(key = "'free'", onBusy = OnBusy.SKIP)
		public @Nullable String bodyThatMeetsABusyLock(Supplier<String> other) {
			return other.get();
		}

		public int getRuns() {
			return this.runs;
		}

	}

	@Test
	void busyLockIsThrownSkippedOrReplaced() {
		Busy busy = bean(Busy.class);
		holdElsewhere("busy");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(busy::throwing)
			.withMessageContaining("another instance");
		assertThat(busy.skipping()).isNull();
		assertThat(busy.skippingOptional()).isEmpty();
		assertThat(busy.skippingOptionalLong()).isEmpty();
		busy.skippingVoid();
		assertThat(busy.fallingBack(7)).isEqualTo(-7);
		assertThat(busy.getRuns()).as("the method never runs without its lock").isZero();
		this.store.clear();
		busy.throwing();
		assertThat(busy.skipping()).isEqualTo("ran");
		assertThat(busy.skippingOptional()).contains("ran");
		assertThat(busy.fallingBack(7)).isEqualTo(7);
		assertThat(busy.getRuns()).isEqualTo(4);
	}

	abstract static class Importer<T> {

		@DistributedLocked(key = "'busy'", onBusy = OnBusy.SKIP)
		public @Nullable T run() {
			throw new IllegalStateException("ran without its lock");
		}

	}

	static class ReportImporter extends Importer<Optional<String>> {

	}

	@Test
	void skippedMethodReturnsTheEmptyValueOfAnInheritedType() {
		ReportImporter importer = bean(ReportImporter.class);
		holdElsewhere("busy");
		assertThat(importer.run()).isEqualTo(Optional.empty());
	}

	@Test
	void busyLockInsideBodyIsNotMistakenForOwnLock() {
		Busy busy = bean(Busy.class);
		holdElsewhere("other");
		assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> busy.bodyThatMeetsABusyLock(() -> this.registry.acquire("other").key()));
	}

	static class Losing {

		private final LeaseLockRegistry registry;

		Losing(LockRegistry registry) {
			this.registry = (LeaseLockRegistry) registry;
		}

		@DistributedLocked("'lost'")
		public String throwing() {
			ForcedLoss.ofCurrent(this.registry);
			return "done";
		}

		@DistributedLocked("'lost'")
		public String throwingBoth() {
			ForcedLoss.ofCurrent(this.registry);
			throw new IllegalStateException("of the body");
		}

		@DistributedLocked(key = "'lost'", onLost = OnLost.IGNORE)
		public String ignoring() {
			ForcedLoss.ofCurrent(this.registry);
			return "done";
		}

		@DistributedLocked(key = "'lost'", onLost = OnLost.INTERRUPT)
		public String interrupted() throws InterruptedException {
			ForcedLoss.ofCurrent(this.registry);
			new CountDownLatch(1).await();
			return "never";
		}

		@DistributedLocked(key = "'kept'", lease = "5s")
		public String renewed(Supplier<String> body) {
			return body.get();
		}

	}

	@Test
	void r9LossIsThrownAfterTheBody() {
		Losing losing = bean(Losing.class);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(losing::throwing).withMessageContaining("'lost'");
		IllegalStateException ex = catchThrowableOfType(IllegalStateException.class, losing::throwingBoth);
		assertThat(ex).hasMessage("of the body");
		assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
		assertThat(losing.ignoring()).isEqualTo("done");
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void lossInterruptsTheBodyAndNothingElse() {
		Losing losing = bean(Losing.class);
		InterruptedException ex = catchThrowableOfType(InterruptedException.class, losing::interrupted);
		assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	private Instant end(String key) {
		return this.store.find(key).orElseThrow().until();
	}

	@Test
	void lockIsRenewedWhileTheMethodRuns() {
		Losing losing = bean(Losing.class);
		assertThat(losing.renewed(() -> {
			Instant end = end("kept");
			Awaitility.await().until(() -> end("kept").isAfter(end.plusSeconds(1)));
			return LockHandle.current().orElseThrow().isValid() ? "valid" : "lost";
		})).isEqualTo("valid");
	}

	@Test
	void reentrantCallsShareTheLock() {
		Losing losing = bean(Losing.class);
		long[] tokens = new long[2];
		losing.renewed(() -> {
			tokens[0] = LockHandle.current().orElseThrow().token();
			return losing.renewed(() -> {
				tokens[1] = LockHandle.current().orElseThrow().token();
				return "inner";
			});
		});
		assertThat(tokens[0]).isEqualTo(tokens[1]);
		assertThat(this.store.find("kept")).isEmpty();
	}

	@Test
	void runningMethodShowsWhyTheLockIsHeld() {
		Losing losing = bean(Losing.class);
		List<String> reasons = new ArrayList<>();
		losing.renewed(() -> {
			reasons.add(this.registry.find("kept").orElseThrow().reason());
			return "";
		});
		assertThat(reasons).containsExactly("Losing.renewed");
	}

}
