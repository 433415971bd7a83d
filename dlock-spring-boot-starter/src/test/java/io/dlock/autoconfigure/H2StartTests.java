package io.dlock.autoconfigure;

import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * C5: a user of H2 without rights fails the start at once.
 */
class H2StartTests {

	private final String database = "jdbc:h2:mem:" + UUID.randomUUID();

	private final JdbcClient admin = JdbcClient
		.create(new DriverManagerDataSource(this.database + ";DB_CLOSE_DELAY=-1", "sa", ""));

	private void assertMissingRight(String url, String problem) {
		this.admin.sql("CREATE USER locks PASSWORD 'secret'").update();
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class,
					DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + url, "spring.datasource.username=locks",
					"spring.datasource.password=secret", "spring.datasource.hikari.initialization-fail-timeout=-1",
					"spring.datasource.hikari.connection-timeout=1000", "dlock.startup-timeout=5m")
			.run((context) -> {
				assertThat(context).getFailure().rootCause().hasMessageContaining("rights");
				Throwable failure = context.getStartupFailure();
				while (!(failure instanceof FailureAnalyzedException analyzed)) {
					assertThat(failure).isNotNull();
					failure = failure.getCause();
				}
				assertThat(analyzed.analysis().getDescription()).contains(problem).doesNotContain("dlock retried for");
			});
		this.admin.sql("SHUTDOWN").update();
	}

	/**
	 * H2 wants an administrator for the settings in the address, and says so with another
	 * error than for a table.
	 */
	@Test
	void c5UserThatMayNotSetWhatTheAddressSays() {
		assertMissingRight(this.database + ";DB_CLOSE_DELAY=-1", "Admin rights are required");
	}

	@Test
	void c10UserThatMayNotCreateTheTable() {
		assertMissingRight(this.database, "no right to create tables");
	}

}
