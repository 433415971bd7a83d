package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.UUID;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.dlock.DistributedLocked;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * The messages of an application that does not start.
 */
@ExtendWith(OutputCaptureExtension.class)
class FailedStartTests {

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class BrokenApplication {

		@Bean
		Broken broken() {
			return new Broken();
		}

	}

	static class Broken {

		@DistributedLocked(key = "#order", lease = "30")
		public void pay(String order) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class NotWovenApplication {

		@Bean
		NotWoven notWoven() {
			return new NotWoven();
		}

	}

	static class NotWoven {

		@DistributedLocked
		public void pay() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class OwnStoreApplication {

		@Bean(defaultCandidate = false)
		LockStore ledgerStore(DataSource dataSource) {
			JdbcLockStore store = new JdbcLockStore(dataSource,
					JdbcLockStoreSettings.defaults().withCommandTimeout(Duration.ofSeconds(10)));
			store.verify();
			return store;
		}

	}

	@Test
	void storeOfTheApplicationWithoutItsTable(CapturedOutput output) {
		run(OwnStoreApplication.class, "--dlock.backend=memory",
				"--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("The lock table 'dlock_lock' is missing")
			.contains("Create it with the script");
	}

	private static void run(Class<?> application, String... arguments) {
		SpringApplication springApplication = new SpringApplication(application);
		springApplication.setWebApplicationType(WebApplicationType.NONE);
		assertThatException().isThrownBy(() -> springApplication.run(arguments));
	}

	@Test
	void bothBackendsPossible(CapturedOutput output) {
		run(Application.class);
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("dlock does not know where to keep its locks")
			.contains("Set dlock.backend=redis or dlock.backend=jdbc");
	}

	@Test
	void invalidAnnotatedMethod(CapturedOutput output) {
		run(BrokenApplication.class, "--dlock.backend=memory");
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("@DistributedLocked on " + Broken.class.getName() + ".pay has the lease '30', which has no unit.")
			.contains("Add one: \"30s\" or \"30ms\".");
	}

	@Test
	void aspectJModeWithoutTheAgent(CapturedOutput output) {
		run(NotWovenApplication.class, "--dlock.backend=memory", "--dlock.aop.mode=aspectj");
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("@DistributedLocked on " + NotWoven.class.getName() + ".pay would not be locked: "
					+ "dlock.aop.mode is aspectj, but AspectJ has not woven the method.")
			.contains("Start the JVM with -javaagent:aspectjweaver.jar");
	}

}
