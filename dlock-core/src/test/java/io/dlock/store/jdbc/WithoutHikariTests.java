package io.dlock.store.jdbc;

import java.util.concurrent.Callable;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.util.ClassUtils;

import io.dlock.LockHandle;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.test.Patience;
import io.dlock.test.ReducedClassPath;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application may have another pool.
 */
class WithoutHikariTests {

	public static class Application implements Callable<Boolean> {

		@Override
		public Boolean call() {
			assertThat(ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", getClass().getClassLoader()))
				.isFalse();
			JdbcDataSource dataSource = new JdbcDataSource();
			dataSource.setURL("jdbc:h2:mem:without-hikari;DB_CLOSE_DELAY=-1");
			new ResourceDatabasePopulator(new ClassPathResource("io/dlock/store/jdbc/schema-h2.sql"))
				.execute(dataSource);
			try (JdbcLockStore store = new JdbcLockStore(dataSource,
					JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
					LeaseLockRegistry registry = new LeaseLockRegistry(store, LockSettings.defaults());
					LockHandle lock = registry.acquire("key")) {
				return lock.isValid();
			}
		}

	}

	@Test
	void locksUseConnectionsOfTheApplication() throws Exception {
		assertThat(ReducedClassPath.call("HikariCP", Application.class)).isEqualTo(true);
	}

}
