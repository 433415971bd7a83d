package io.dlock.aop;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import io.dlock.DistributedLocked;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The hint at the start that the arguments of a method have no part in its lock.
 */
class WholeMethodHintTests extends AbstractDistributedLockedTests {

	public static class Orders {

		@DistributedLocked
		public void pay(String order) {
		}

		@DistributedLocked
		public void payAll() {
		}

		@DistributedLocked(name = "orders")
		public void refund(String order) {
		}

		@DistributedLocked(name = "orders", key = "#order")
		public void cancel(String order) {
		}

		@DistributedLocked(keys = "#orders")
		public void cancelAll(String[] orders) {
		}

	}

	@Test
	void methodWithArgumentsAndNeitherKeyNorNameIsToldOnce() {
		Logger logger = (Logger) LoggerFactory.getLogger(LockedOperationParser.class);
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		logger.setLevel(Level.INFO);
		logger.addAppender(log);
		try {
			Orders orders = bean(Orders.class);
			orders.pay("1");
			orders.pay("2");
			orders.payAll();
		}
		finally {
			logger.detachAppender(log);
			logger.setLevel(null);
		}
		assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage)
			.filteredOn((message) -> message.contains("neither key nor name"))
			.singleElement()
			.asString()
			.contains("Orders.pay has", "key = \"#id\"");
	}

}
