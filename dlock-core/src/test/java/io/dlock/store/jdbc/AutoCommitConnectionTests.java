package io.dlock.store.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
		assertThat(state).containsAllEntriesOf(before).containsKey("closed");
	}

	/**
	 * Zero is no timeout.
	 */
	@Test
	void r34ShortestNetworkTimeoutIsAMillisecond() throws SQLException {
		Map<String, Object> state = new HashMap<>(Map.of("AutoCommit", true, "NetworkTimeout", 0));
		try (AutoCommitConnection ours = new AutoCommitConnection(connection(state), Duration.ofNanos(999_999))) {
			assertThat(ours.get().getNetworkTimeout()).isEqualTo(1);
		}
		assertThat(state).containsEntry("NetworkTimeout", 0);
	}

	/**
	 * The pool would have one connection less.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void r32ConnectionThatFailsBeforeItsUseIsGivenBack(boolean sql) {
		Map<String, Object> state = new HashMap<>(Map.of("AutoCommit", false, "NetworkTimeout", 12_345));
		Exception failure = sql ? new SQLException("broken") : new IllegalStateException("broken");
		Connection broken = connection(state, Map.of("setAutoCommit", failure));
		assertThatThrownBy(() -> new AutoCommitConnection(broken, Duration.ofMillis(777))).isSameAs(failure);
		assertThat(state).containsKey("closed");
	}

	@Test
	void r32ConnectionThatFailsAfterItsUseIsGivenBack() throws SQLException {
		Map<String, Object> state = new HashMap<>(Map.of("AutoCommit", true, "NetworkTimeout", 12_345));
		Map<String, Exception> failures = new HashMap<>();
		try (AutoCommitConnection ours = new AutoCommitConnection(connection(state, failures),
				Duration.ofMillis(777))) {
			failures.put("setNetworkTimeout", new SQLException("broken"));
			assertThat(ours.get().getNetworkTimeout()).isEqualTo(777);
			assertThat(state).doesNotContainKey("closed");
		}
		assertThat(state).containsKey("closed");
	}

	private static Connection connection(Map<String, Object> state) {
		return connection(state, Map.of());
	}

	private static Connection connection(Map<String, Object> state, Map<String, Exception> failures) {
		return (Connection) Proxy.newProxyInstance(AutoCommitConnectionTests.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, args) -> {
					Exception failure = failures.get(method.getName());
					if (failure != null) {
						throw failure;
					}
					if (method.getName().equals("close")) {
						state.put("closed", true);
					}
					String property = method.getName().substring(3);
					if (method.getName().startsWith("set")) {
						state.put(property, args[args.length - 1]);
					}
					return method.getName().equals("isClosed") ? Boolean.FALSE : state.get(property);
				});
	}

}
