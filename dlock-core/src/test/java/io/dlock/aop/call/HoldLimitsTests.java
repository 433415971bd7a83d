package io.dlock.aop.call;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.OnBusy;
import io.dlock.aop.AbstractDistributedLockedTests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The shortest and the longest time a locked method holds its lock.
 */
public class HoldLimitsTests extends AbstractDistributedLockedTests {

	public HoldLimitsTests() {
		super(Duration.ofMillis(50));
	}

	static class Limited {

		private int runs;

		@DistributedLocked(name = "nightly", waitTime = "0s", onBusy = OnBusy.SKIP, minHold = "${orders.lease}")
		public void nightly() {
			this.runs++;
		}

		@DistributedLocked(name = "failing", waitTime = "0s", minHold = "1m")
		public void failing() {
			throw new IllegalStateException("of the body");
		}

		@DistributedLocked(name = "hanging", lease = "4s", maxHold = "4s")
		public void hanging() {
			awaitLoss();
		}

		@DistributedLocked(name = "hanging-reader", mode = LockMode.SHARED, lease = "4s", maxHold = "4s")
		public void hangingReader() {
			awaitLoss();
		}

		@DistributedLimit(name = "hanging-permit", limit = "1", lease = "4s", maxHold = "4s")
		public void hangingPermit() {
			awaitLoss();
		}

		private static void awaitLoss() {
			LockHandle handle = LockHandle.current().orElseThrow();
			Awaitility.await().until(() -> !handle.isValid());
		}

		public int getRuns() {
			return this.runs;
		}

	}

	@Test
	void scheduledMethodRunsOnceForAnyDelay() {
		Limited limited = bean(Limited.class);
		limited.nightly();
		limited.nightly();
		assertThat(limited.getRuns()).isEqualTo(1);
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void methodThatThrowsKeepsItsLockTakenToo() {
		Limited limited = bean(Limited.class);
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(limited::failing);
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(limited::failing);
		assertThat(this.store.find("failing").orElseThrow().until())
			.isAfter(this.store.find("failing").orElseThrow().since().plus(Duration.ofSeconds(55)));
	}

	@Test
	void methodThatHangsLosesItsLock() {
		Limited limited = bean(Limited.class);
		List<CompletableFuture<Void>> calls = Stream
			.<Runnable>of(limited::hanging, limited::hangingReader, limited::hangingPermit)
			.map(CompletableFuture::runAsync)
			.toList();
		assertThat(calls)
			.allSatisfy((call) -> assertThatExceptionOfType(CompletionException.class).isThrownBy(call::join)
				.withCauseInstanceOf(LockLostException.class)
				.withMessageContaining("maxHold of 4000 ms"));
	}

	static class Several {

		private boolean ran;

		@DistributedLocked(keys = { "'b'", "'a'" }, lease = "300ms", maxHold = "600ms", waitTime = "20s")
		public void atMost() {
			this.ran = true;
		}

		public boolean hasRun() {
			return this.ran;
		}

	}

	@Test
	void maxHoldOfSeveralLocksCountsFromTheFirst() {
		Several several = bean(Several.class);
		LockHandle other = this.registry.acquireAsync(LockRequest.builder("b").waitTime(Duration.ofSeconds(20)).build())
			.join();
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Lost) {
				other.releaseAsync();
			}
		});
		assertThatExceptionOfType(LockLostException.class).isThrownBy(several::atMost)
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("a"));
		assertThat(several.hasRun()).isFalse();
		Awaitility.await().until(() -> this.store.find("a").isEmpty() && this.store.find("b").isEmpty());
	}

	static class ShorterThanTheLease {

		@DistributedLocked(lease = "20s", maxHold = "10s")
		public void work() {
		}

	}

	static class ShorterThanTheDefaultLease {

		@DistributedLocked(maxHold = "10s")
		public void work() {
		}

	}

	static class ShorterThanMinHold {

		@DistributedLocked(minHold = "2m", maxHold = "1m")
		public void work() {
		}

	}

	static class NegativeMinHold {

		@DistributedLocked(minHold = "-1m")
		public void work() {
		}

	}

	static class MinHoldWithoutUnit {

		@DistributedLocked(minHold = "60")
		public void work() {
		}

	}

	static class NoMaxHold {

		@DistributedLocked(maxHold = "0s")
		public void work() {
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { ShorterThanTheLease.class, ShorterThanTheDefaultLease.class, ShorterThanMinHold.class,
			NegativeMinHold.class, MinHoldWithoutUnit.class, NoMaxHold.class })
	void limitsThatDoNotFitAreRefusedAtStartUp(Class<?> type) {
		assertThat(catchThrowable(() -> bean(type))).hasMessageContaining("@DistributedLocked on")
			.hasMessageContaining("Hold");
	}

}
