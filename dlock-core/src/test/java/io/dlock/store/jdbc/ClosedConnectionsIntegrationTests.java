package io.dlock.store.jdbc;

import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.StoreException;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A store that is closed during an outage leaves nothing behind.
 */
class ClosedConnectionsIntegrationTests {

	private static Set<Thread> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("dlock-sessions"))
			.collect(Collectors.toSet());
	}

	/**
	 * The session of a call without an answer is there until its end is confirmed.
	 */
	@Test
	void sessionsAreNotEndedAnyMore() {
		PostgresServer server = PostgresServer.shared();
		Set<Thread> before = threads();
		AtomicBoolean abandoned = new AtomicBoolean();
		try (TcpProxy proxy = TcpProxy.to(server.host(), server.port());
				HikariDataSource application = Pools.create(server.jdbcUrl(proxy.port()), server.username(),
						server.password());
				LockConnections connections = new LockConnections(application, JdbcLockStoreSettings.defaults())) {
			Awaitility.await().until(() -> {
				assertThatExceptionOfType(StoreException.class)
					.isThrownBy(() -> connections.execute("test", (dialect, connection) -> {
						proxy.refuse(true);
						proxy.cutAll();
						abandoned.set(true);
						throw new SQLException("no answer", "08006");
					}));
				return abandoned.get();
			});
		}
		Awaitility.await().until(() -> before.containsAll(threads()));
	}

}
