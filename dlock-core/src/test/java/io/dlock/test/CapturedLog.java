package io.dlock.test;

import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The events of a logger from the creation of this object until it is closed.
 */
public final class CapturedLog implements AutoCloseable {

	private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

	private final Logger logger;

	private final @Nullable Level level;

	private CapturedLog(String name) {
		this.logger = (Logger) LoggerFactory.getLogger(name);
		this.level = this.logger.getLevel();
		this.appender.start();
		this.logger.addAppender(this.appender);
	}

	/**
	 * Capture the log of a class.
	 * @param type the class
	 * @return its events
	 */
	public static CapturedLog of(Class<?> type) {
		return of(type.getName());
	}

	/**
	 * Capture the log of a package or class.
	 * @param name the name of its logger
	 * @return its events
	 */
	public static CapturedLog of(String name) {
		return new CapturedLog(name);
	}

	/**
	 * Set the level of the logger until this object is closed.
	 * @param level the level
	 * @return this
	 */
	public CapturedLog from(Level level) {
		this.logger.setLevel(level);
		return this;
	}

	public List<ILoggingEvent> events() {
		return this.appender.list;
	}

	public List<String> messages() {
		return events().stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	@Override
	public void close() {
		this.logger.detachAppender(this.appender);
		this.logger.setLevel(this.level);
	}

}
