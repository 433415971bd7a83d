package io.dlock.aop.call;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import ch.qos.logback.classic.Level;
import org.junit.jupiter.api.Test;

import io.dlock.LockCongestedException;
import io.dlock.LockStoreException;
import io.dlock.OnStoreFailure;
import io.dlock.test.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The log of an outage.
 */
class StoreFailureHandlerTests {

	private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);

	@Test
	void r57MethodThatRunsWithoutItsLockIsWarnedOfOnceAMinuteAndWithoutItsKey() {
		try (CapturedLog log = CapturedLog.of(StoreFailureHandler.class)) {
			StoreFailureHandler handler = new StoreFailureHandler(OnStoreFailure.PROCEED, "Orders.pay",
					this.nanos::get);
			for (int i = 0; i < 1000; i++) {
				handler.warn(failure());
			}
			assertThat(log.events()).singleElement().satisfies((event) -> {
				assertThat(event.getLevel()).isEqualTo(Level.WARN);
				assertThat(event.getFormattedMessage()).contains("Orders.pay", "connection refused")
					.doesNotContain("orders:42");
			});
			this.nanos.addAndGet(Duration.ofSeconds(60).toNanos());
			handler.warn(failure());
			assertThat(log.messages()).hasSize(2).last().asString().contains("warning: 1000.");
		}
	}

	/**
	 * The store works, and another caller may hold the lock.
	 */
	@Test
	void a5MethodNeverRunsWithoutItsLockBecauseTheProcessIsCongested() {
		StoreFailureHandler handler = new StoreFailureHandler(OnStoreFailure.PROCEED, "Orders.pay", this.nanos::get);
		LockCongestedException congested = new LockCongestedException("orders:42", "acquire", "The lock is not held",
				null);
		assertThat(handler.isFailOpen(congested)).isFalse();
		assertThat(handler.isFailOpen(failure())).isTrue();
	}

	private static LockStoreException failure() {
		return new LockStoreException("orders:42", "acquire", "The lock is not held",
				new IllegalStateException("connection refused"));
	}

}
