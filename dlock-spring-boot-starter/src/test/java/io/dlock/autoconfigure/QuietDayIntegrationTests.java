package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.test.Patience;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * C15: the log of a normal day has one line about the locks, at the start.
 */
class QuietDayIntegrationTests {

	private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);

	private final Lines lines = new Lines();

	private final Level before = this.root.getLevel();

	private static final class Lines extends AppenderBase<ILoggingEvent> {

		private final List<String> ours = new CopyOnWriteArrayList<>();

		@Override
		protected void append(ILoggingEvent event) {
			String reason = (event.getThrowableProxy() != null) ? " " + event.getThrowableProxy().getMessage() : "";
			String line = event.getLevel() + " " + event.getLoggerName() + ": " + event.getFormattedMessage() + reason;
			boolean ours = line.contains("dlock") || line.contains("springframework.scheduling");
			if (ours && event.getLevel().isGreaterOrEqual(Level.INFO)) {
				this.ours.add(line);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Day {

		@Scheduled(fixedDelay = 1)
		@DistributedLocked(key = "'quiet day'", name = "day")
		public void work() {
		}

	}

	@BeforeEach
	void listen() {
		this.lines.start();
		this.root.setLevel(Level.INFO);
		this.root.addAppender(this.lines);
	}

	@AfterEach
	void listenNoMore() {
		this.root.detachAppender(this.lines);
		this.root.setLevel(this.before);
	}

	static Stream<ApplicationContextRunner> stores() {
		ApplicationContextRunner runner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class,
					DlockRedisAutoConfiguration.class, TaskSchedulingAutoConfiguration.class))
			.withUserConfiguration(Day.class)
			.withPropertyValues("dlock.lease=2m", "dlock.command-timeout=" + Patience.COMMAND.toMillis() + "ms");
		ApplicationContextRunner jdbc = runner
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("dlock.jdbc.initialize-schema=always");
		PostgresServer postgres = PostgresServer.shared();
		return Stream.of(
				jdbc.withPropertyValues(
						"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1"),
				jdbc.withPropertyValues("spring.datasource.url=" + postgres.jdbcUrl(),
						"spring.datasource.username=" + postgres.username(),
						"spring.datasource.password=" + postgres.password()),
				runner.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
					.withPropertyValues("spring.data.redis.host=" + RedisServer.shared().host(),
							"spring.data.redis.port=" + RedisServer.shared().port()));
	}

	@ParameterizedTest
	@MethodSource("stores")
	void c15OneLineAtTheStart(ApplicationContextRunner application) {
		application.run((context) -> {
			LockRegistry registry = context.getBean(LockRegistry.class);
			String key = UUID.randomUUID().toString();
			// one waits, so that there is a mailbox
			LockHandle held = registry.acquireAsync(LockRequest.of(key)).get();
			assertThat(registry.tryAcquire(LockRequest.builder(key).waitTime(Duration.ofMillis(300)).build()))
				.isEmpty();
			held.release();
			registry.execute(LockRequest.of(key), (handle) -> handle.token());
			context.close();
		});
		assertThat(this.lines.ours).singleElement().asString().contains("INFO", "Locks are in ");
	}

}
