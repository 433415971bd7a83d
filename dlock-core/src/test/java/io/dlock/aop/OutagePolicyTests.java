package io.dlock.aop;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import io.dlock.LockCongestedException;
import io.dlock.LockStoreException;
import io.dlock.OnStoreFailure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * How an outage is logged.
 */
class OutagePolicyTests {

	private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);

	@Test
	void r57MethodThatRunsWithoutItsLockIsWarnedOfOnceAMinuteAndWithoutItsKey() throws Throwable {
		Logger logger = (Logger) LoggerFactory.getLogger(OutagePolicy.class);
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		logger.addAppender(log);
		try {
			OutagePolicy policy = new OutagePolicy(OnStoreFailure.PROCEED, "Orders.pay", null, this.nanos::get);
			for (int i = 0; i < 1000; i++) {
				assertThat(policy.instead(new Call(), failure())).isEqualTo("ran");
			}
			assertThat(log.list).singleElement().satisfies((event) -> {
				assertThat(event.getLevel()).isEqualTo(Level.WARN);
				assertThat(event.getFormattedMessage()).contains("Orders.pay", "connection refused")
					.doesNotContain("orders:42");
			});
			this.nanos.addAndGet(Duration.ofSeconds(60).toNanos());
			policy.instead(new Call(), failure());
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
		OutagePolicy policy = new OutagePolicy(OnStoreFailure.PROCEED, "Orders.pay", null, this.nanos::get);
		LockCongestedException congested = new LockCongestedException("orders:42", "acquire", "The lock is not held",
				null);
		assertThatExceptionOfType(LockCongestedException.class).isThrownBy(() -> policy.instead(new Call(), congested))
			.isSameAs(congested);
		assertThat(policy.isFailOpen(congested)).as("told to listeners").isFalse();
		assertThat(policy.isFailOpen(failure())).isTrue();
	}

	private static LockStoreException failure() {
		return new LockStoreException("orders:42", "acquire", "The lock is not held",
				new IllegalStateException("connection refused"));
	}

	private static final class Call implements MethodInvocation {

		@Override
		public Object proceed() {
			return "ran";
		}

		@Override
		public Method getMethod() {
			throw new UnsupportedOperationException();
		}

		@Override
		public Object[] getArguments() {
			return new Object[0];
		}

		@Override
		public Object getThis() {
			return this;
		}

		@Override
		public AccessibleObject getStaticPart() {
			throw new UnsupportedOperationException();
		}

	}

}
