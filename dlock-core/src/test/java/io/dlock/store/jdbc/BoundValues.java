package io.dlock.store.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

/**
 * Sees every statement that is prepared and run on a {@code DataSource} and every value
 * that is bound.
 */
final class BoundValues {

	private final List<String> sql = new CopyOnWriteArrayList<>();

	private final List<Object> values = new CopyOnWriteArrayList<>();

	private final List<String> executions = new CopyOnWriteArrayList<>();

	List<String> sql() {
		return this.sql;
	}

	List<Object> values() {
		return this.values;
	}

	List<String> executions() {
		return this.executions;
	}

	DataSource observe(DataSource dataSource) {
		return proxy(DataSource.class, (proxy, method, args) -> {
			if (method.getName().equals("isWrapperFor")) {
				return false;
			}
			Object result = invoke(dataSource, method, args);
			return (result instanceof Connection connection) ? observe(connection) : result;
		});
	}

	private Connection observe(Connection connection) {
		return proxy(Connection.class, (proxy, method, args) -> {
			Object result = invoke(connection, method, args);
			if (result instanceof PreparedStatement statement) {
				this.sql.add((String) args[0]);
				return observe(statement, (String) args[0]);
			}
			return result;
		});
	}

	private PreparedStatement observe(PreparedStatement statement, String text) {
		return proxy(PreparedStatement.class, (proxy, method, args) -> {
			if (method.getName().startsWith("set") && args != null && args.length >= 2) {
				this.values
					.addAll((args[1] instanceof Array array) ? List.of((Object[]) array.getArray()) : List.of(args[1]));
			}
			if (method.getName().startsWith("execute")) {
				this.executions.add(text);
			}
			return invoke(statement, method, args);
		});
	}

	private static Object invoke(Object target, Method method, Object[] args) throws Throwable {
		try {
			return method.invoke(target, args);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	private static <T> T proxy(Class<T> type, InvocationHandler handler) {
		return type.cast(Proxy.newProxyInstance(BoundValues.class.getClassLoader(), new Class<?>[] { type }, handler));
	}

}
