package io.dlock.aop.call;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import io.dlock.LockCongestedException;
import io.dlock.LockStoreException;
import io.dlock.OnStoreFailure;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The log of an outage.
 */
class StoreFailurePolicyTests {

	private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);

	@Test
	void r57MethodThatRunsWithoutItsLockIsWarnedOfOnceAMinuteAndWithoutItsKey() {
		Logger logger = (Logger) LoggerFactory.getLogger(StoreFailurePolicy.class);
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		logger.addAppender(log);
		try {
			StoreFailurePolicy policy = new StoreFailurePolicy(OnStoreFailure.PROCEED, "Orders.pay", this.nanos::get);
			for (int i = 0; i < 1000; i++) {
				policy.warn(failure());
			}
			assertThat(log.list).singleElement().satisfies((event) -> {
				assertThat(event.getLevel()).isEqualTo(Level.WARN);
				assertThat(event.getFormattedMessage()).contains("Orders.pay", "connection refused")
					.doesNotContain("orders:42");
			});
			this.nanos.addAndGet(Duration.ofSeconds(60).toNanos());
			policy.warn(failure());
			assertThat(log.list).hasSize(2);
			assertThat(log.list.get(1).getFormattedMessage()).contains("warning: 1000.");
		}
		finally {
			logger.detachAppender(log);
		}
	}

	/**
	 * The store works, and another caller may hold the lock.
	 */
	@Test
	void a5MethodNeverRunsWithoutItsLockBecauseTheProcessIsCongested() {
		StoreFailurePolicy policy = new StoreFailurePolicy(OnStoreFailure.PROCEED, "Orders.pay", this.nanos::get);
		LockCongestedException congested = new LockCongestedException("orders:42", "acquire", "The lock is not held",
				null);
		assertThat(policy.isFailOpen(congested)).isFalse();
		assertThat(policy.isFailOpen(failure())).isTrue();
	}

	private static LockStoreException failure() {
		return new LockStoreException("orders:42", "acquire", "The lock is not held",
				new IllegalStateException("connection refused"));
	}

}
