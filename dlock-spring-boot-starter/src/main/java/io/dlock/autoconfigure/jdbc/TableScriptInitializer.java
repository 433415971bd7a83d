package io.dlock.autoconfigure.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import javax.sql.DataSource;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.UncategorizedScriptException;

import io.dlock.autoconfigure.StartupFailure;
import io.dlock.store.StoreMisconfiguredException;

/**
 * Runs the script that creates a table. The default name of the table in the script
 * stands for the configured one.
 */
final class TableScriptInitializer
		extends PropertiesBasedDataSourceScriptDatabaseInitializer<DatabaseInitializationProperties> {

	private final String nameInScript;

	private final String table;

	TableScriptInitializer(DataSource dataSource, DatabaseInitializationProperties properties, String nameInScript,
			String table) {
		super(dataSource, properties, Map.of(DatabaseDriver.MARIADB, "mysql"));
		this.nameInScript = nameInScript;
		this.table = table;
	}

	/**
	 * A database checks the right to create a table before the existence of the table. A
	 * table that the user must not read exists; the start checks it later.
	 */
	private boolean tableExists() {
		try (Connection connection = Objects.requireNonNull(getDataSource()).getConnection();
				Statement statement = connection.createStatement()) {
			statement.execute("SELECT 1 FROM " + this.table + " WHERE 1 = 0");
			return true;
		}
		catch (SQLException ex) {
			StartupFailure failure = StartupFailure.of(ex);
			if (failure.isTransient()) {
				throw new DataAccessResourceFailureException("Failed to check whether the table exists", ex);
			}
			return failure == StartupFailure.PERMISSION;
		}
	}

	private StoreMisconfiguredException noRight(Scripts named, DataAccessException cause) {
		return new StoreMisconfiguredException(
				"dlock cannot create its table '%s': the database user has no right to create tables (CREATE on the schema). The database says: %s."
					.formatted(this.table, rootMessage(cause)),
				"Run this as a user that has it, and set dlock.jdbc.initialize-schema=never:%n%n%s"
					.formatted(text(named)),
				cause);
	}

	/**
	 * Of several instances that start at once, one creates the table and the others may
	 * fail in spite of IF NOT EXISTS; their second attempt finds it.
	 */
	@Override
	protected void runScripts(Scripts scripts) {
		run(withTable(scripts), true);
	}

	private void run(Scripts named, boolean again) {
		try {
			execute(named);
		}
		catch (DataAccessException ex) {
			if (StartupFailure.of(ex) == StartupFailure.PERMISSION) {
				if (!tableExists()) {
					throw noRight(named, ex);
				}
				return;
			}
			if (!again) {
				throw ex;
			}
			run(named, false);
		}
	}

	/**
	 * Run scripts on a connection of their own. With lazy initialization a table may be
	 * needed first inside a transaction, and some databases commit that before they
	 * create a table.
	 */
	private void execute(Scripts scripts) {
		ResourceDatabasePopulator populator = new ResourceDatabasePopulator();
		scripts.forEach(populator::addScript);
		populator.setContinueOnError(scripts.isContinueOnError());
		populator.setSeparator(scripts.getSeparator());
		populator.setSqlScriptEncoding(String.valueOf(scripts.getEncoding()));
		try (Connection connection = Objects.requireNonNull(getDataSource()).getConnection()) {
			populator.populate(connection);
			if (!connection.getAutoCommit()) {
				connection.commit();
			}
		}
		catch (SQLException ex) {
			throw new UncategorizedScriptException("Failed to run the script on a connection", ex);
		}
	}

	private Scripts withTable(Scripts scripts) {
		Charset encoding = (scripts.getEncoding() != null) ? scripts.getEncoding() : StandardCharsets.UTF_8;
		List<Resource> named = new ArrayList<>();
		for (Resource script : scripts) {
			try {
				String text = script.getContentAsString(encoding);
				named.add(new ByteArrayResource(text.replace(this.nameInScript, this.table).getBytes(encoding),
						script.getDescription()));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return new Scripts(named).continueOnError(scripts.isContinueOnError())
			.separator(scripts.getSeparator())
			.encoding(encoding);
	}

	/**
	 * The statements without their comments.
	 */
	private static String text(Scripts scripts) {
		StringBuilder text = new StringBuilder();
		for (Resource script : scripts) {
			try {
				script.getContentAsString(StandardCharsets.UTF_8)
					.lines()
					.filter((line) -> !line.startsWith("--"))
					.forEach((line) -> text.append(line).append(System.lineSeparator()));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return text.toString();
	}

	static String rootMessage(Throwable ex) {
		Throwable root = NestedExceptionUtils.getMostSpecificCause(ex);
		String message = (root instanceof SQLException && root.getMessage() != null) ? root.getMessage()
				: root.toString();
		return message.replaceFirst("[.\\s]+$", "");
	}

}
