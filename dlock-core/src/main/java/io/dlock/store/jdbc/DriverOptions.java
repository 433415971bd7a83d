package io.dlock.store.jdbc;

import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Options of the drivers for the pools of the locks. They are added to the URL, because
 * the properties of a pool belong to the pool of the application as well. An option that
 * the application has set stays as it is.
 */
final class DriverOptions {

	private DriverOptions() {
	}

	/**
	 * Limit the time in which a connection is opened. HikariCP sets the limit of the
	 * whole JVM or of the data source, which the application's connections have as well.
	 * The data source of an application keeps its own limit.
	 * @param config the configuration of a pool
	 */
	static void limitLogin(HikariConfig config, Duration limit) {
		DataSource application = config.getDataSource();
		if (application != null) {
			config.setDataSource(new UnchangedDataSource(application));
		}
		String millis = Long.toString(limit.toMillis());
		add(config, "jdbc:postgresql:", "loginTimeout", Double.toString(limit.toMillis() / 1000.0));
		add(config, "jdbc:mariadb:", "connectTimeout", millis);
		add(config, "jdbc:mysql:", "connectTimeout", millis);
		// until the first statement, which has a limit of its own
		add(config, "jdbc:mysql:", "socketTimeout", millis);
	}

	/**
	 * Add an option to the URL.
	 * @param config the configuration of a pool
	 * @param driver the beginning of the URLs of the driver
	 * @param name the name of the option
	 */
	static void add(HikariConfig config, String driver, String name, String value) {
		String url = config.getJdbcUrl();
		if (url != null && url.startsWith(driver) && !url.contains(name + "=")
				&& !config.getDataSourceProperties().containsKey(name)) {
			config.setJdbcUrl(url + (url.contains("?") ? "&" : "?") + name + "=" + value);
		}
	}

	private static final class UnchangedDataSource extends DelegatingDataSource {

		UnchangedDataSource(DataSource application) {
			super(application);
		}

		@Override
		public void setLoginTimeout(int seconds) {
		}

	}

}
