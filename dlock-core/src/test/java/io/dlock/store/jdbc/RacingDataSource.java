package io.dlock.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.function.Predicate;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Lets another session change a record after it was read and before it is written.
 */
final class RacingDataSource extends DelegatingDataSource {

	private final Runnable change;

	private final Predicate<String> moment;

	RacingDataSource(DataSource target, Runnable change) {
		this(target, change, RacingDataSource::isWrite);
	}

	/**
	 * Let the session come before chosen statements.
	 */
	RacingDataSource(DataSource target, Runnable change, Predicate<String> moment) {
		super(target);
		this.change = change;
		this.moment = moment;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return (Connection) Proxy.newProxyInstance(RacingDataSource.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, args) -> {
					if (method.getName().equals("prepareStatement") && this.moment.test((String) args[0])) {
						this.change.run();
					}
					try {
						return method.invoke(connection, args);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	/**
	 * Whether a statement writes a record that members may hold, joins a queue, or leaves
	 * one.
	 */
	private static boolean isWrite(String sql) {
		String lower = sql.toLowerCase(Locale.ROOT);
		return !lower.startsWith("select") && !lower.strip().endsWith("for update") && (lower.contains("members")
				|| lower.contains("char_length(waiting) <") || lower.contains("replace(replace("));
	}

	@Override
	public boolean isWrapperFor(Class<?> type) {
		return false;
	}

}
