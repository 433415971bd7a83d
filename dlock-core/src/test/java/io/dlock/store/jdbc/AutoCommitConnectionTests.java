package io.dlock.store.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AutoCommitConnection}.
 */
class AutoCommitConnectionTests {

	/**
	 * HikariCP restores a connection by itself.
	 */
	@Test
	void r31ConnectionOfAPoolThatRestoresNothingIsGivenBackAsItWas() throws SQLException {
		Map<String, Object> before = Map.of("AutoCommit", false, "NetworkTimeout", 12_345);
		Map<String, Object> state = new HashMap<>(before);
		try (AutoCommitConnection ours = new AutoCommitConnection(connection(state), Duration.ofMillis(777))) {
			assertThat(ours.get().getAutoCommit()).isTrue();
			assertThat(ours.get().getNetworkTimeout()).isEqualTo(777);
		}
		assertThat(state).isEqualTo(before);
	}

	private static Connection connection(Map<String, Object> state) {
		return (Connection) Proxy.newProxyInstance(AutoCommitConnectionTests.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, args) -> {
					String property = method.getName().substring(3);
					if (method.getName().startsWith("set")) {
						state.put(property, args[args.length - 1]);
					}
					return method.getName().equals("isClosed") ? Boolean.FALSE : state.get(property);
				});
	}

}
