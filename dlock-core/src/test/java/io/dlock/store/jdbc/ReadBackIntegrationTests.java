package io.dlock.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Patience;
import io.dlock.test.Pools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * MySQL and MariaDB take the lock with one statement and tell of it with the next.
 */
class ReadBackIntegrationTests {

	private final String key = "read-back/" + UUID.randomUUID();

	private @Nullable SQLException failure;

	@ParameterizedTest
	@CsvSource({ "42000, 1142", "HY000, 1205", "40001, 1213", "HY000, 1290", "25006, 1792", "70100, 1317", "08S01, 0" })
	void lockThatWasTakenIsNotSaidToBeFree(String state, int code) {
		try (HikariDataSource pool = Pools.create(MariaDbServer.shared())) {
			Pools.createLockTable(pool, "mysql");
			try (JdbcLockStore store = new JdbcLockStore(faulty(pool),
					JdbcLockStoreSettings.defaults().withPoolSize(0).withCommandTimeout(Patience.COMMAND))) {
				store.verify();
				this.failure = new SQLException("made to fail", state, code);
				StoreException thrown = catchThrowableOfType(StoreException.class, () -> acquire(store));
				assertThat(thrown).hasRootCause(this.failure);
				assertThat(thrown.effect()).isEqualTo(Effect.UNKNOWN);
				this.failure = null;
				assertThat(store.find(this.key)).isPresent();
				assertThat(acquire(store)).isInstanceOf(Granted.class);
			}
		}
	}

	private Object acquire(JdbcLockStore store) {
		return store.acquire(new AcquireCommand(this.key, "a", Duration.ofMinutes(1), "holder", ""));
	}

	private DelegatingDataSource faulty(HikariDataSource pool) {
		return new DelegatingDataSource(pool) {

			@Override
			public Connection getConnection() throws SQLException {
				return faulty(super.getConnection());
			}

		};
	}

	private Connection faulty(Connection connection) {
		return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
				(proxy, method, arguments) -> {
					SQLException failing = this.failure;
					if (failing != null && arguments != null && String.valueOf(arguments[0]).startsWith("SELECT")) {
						throw failing;
					}
					try {
						return method.invoke(connection, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
