package io.dlock.torture.known;

import java.time.Duration;
import java.time.Instant;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * How the peers are set up.
 */
final class Connections {

	private Connections() {
	}

	static HikariDataSource pool(String url, String username, String password) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setUsername(username);
		pool.setPassword(password);
		pool.setMaximumPoolSize(4);
		return pool;
	}

	static JdbcTemplateLockProvider shedLock(DataSource pool) {
		return new JdbcTemplateLockProvider(new JdbcTemplate(pool));
	}

	static JdbcTemplateLockProvider shedLockWithDbTime(DataSource pool) {
		return new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
			.withJdbcTemplate(new JdbcTemplate(pool))
			.usingDbTime()
			.build());
	}

	static LockConfiguration lock(String name, Duration atMost) {
		return new LockConfiguration(Instant.now(), name, atMost, Duration.ZERO);
	}

	static DefaultLockRepository springIntegration(DataSource pool) {
		DefaultLockRepository repository = new DefaultLockRepository(pool);
		repository.setTransactionManager(new JdbcTransactionManager(pool));
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		return repository;
	}

}
