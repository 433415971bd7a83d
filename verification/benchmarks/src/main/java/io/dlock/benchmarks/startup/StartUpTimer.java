package io.dlock.benchmarks.startup;

import java.util.Map;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;

/**
 * Starts the application and takes the time. {@code --ping} also opens its connection to
 * Redis, which an application that uses Redis does sooner or later, and the starter does
 * when it checks the store.
 */
public final class StartUpTimer {

	/** The argument of an application that does not use dlock. */
	public static final String WITHOUT_STARTER = "--spring.autoconfigure.exclude="
			+ DlockAutoConfiguration.class.getName() + "," + DlockJdbcAutoConfiguration.class.getName() + ","
			+ DlockRedisAutoConfiguration.class.getName();

	private StartUpTimer() {
	}

	/**
	 * Start the application.
	 * @param arguments its arguments
	 * @param started when the JVM entered its main method
	 * @return how long it took
	 */
	public static Map<String, Double> run(String[] arguments, long started) {
		SpringApplication application = new SpringApplication(StartUpApplication.class);
		application.setBannerMode(Banner.Mode.OFF);
		try (ConfigurableApplicationContext context = application.run(arguments)) {
			if (context.getEnvironment().containsProperty("ping")) {
				try (RedisConnection connection = context.getBean(RedisConnectionFactory.class).getConnection()) {
					connection.ping();
				}
			}
			return Map.of("millis", (System.nanoTime() - started) / 1e6);
		}
	}

}
