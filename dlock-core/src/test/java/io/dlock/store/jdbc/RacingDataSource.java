package io.dlock.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Lets another session change a record after it was read and before it is written.
 */
final class RacingDataSource extends DelegatingDataSource {

	private final Runnable change;

	RacingDataSource(DataSource target, Runnable change) {
		super(target);
		this.change = change;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return (Connection) Proxy.newProxyInstance(RacingDataSource.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, args) -> {
					if (method.getName().equals("prepareStatement") && isWrite((String) args[0])) {
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

	private static boolean isWrite(String sql) {
		return !sql.startsWith("SELECT") && sql.contains("members");
	}

	@Override
	public boolean isWrapperFor(Class<?> type) {
		return false;
	}

}
