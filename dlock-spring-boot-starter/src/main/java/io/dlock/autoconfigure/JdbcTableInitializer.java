package io.dlock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;

import io.dlock.autoconfigure.StartPatience.FirstUseException;
import io.dlock.fencing.jdbc.FencingGuard;
import io.dlock.store.StoreMisconfiguredException;

/**
 * Creates the tables, as {@code dlock.jdbc.initialize-schema} says. In the scripts a
 * table goes by its default name, which is replaced by the configured one.
 */
final class JdbcTableInitializer
		extends PropertiesBasedDataSourceScriptDatabaseInitializer<DatabaseInitializationProperties> {

	private static final Log logger = LogFactory.getLog(JdbcTableInitializer.class);

	private final String nameInScript;

	private final String table;

	private JdbcTableInitializer(DataSource dataSource, DatabaseInitializationProperties properties,
			ResourceLoader resourceLoader, String nameInScript, String table) {
		super(dataSource, properties, Map.of(DatabaseDriver.MARIADB, "mysql"));
		this.nameInScript = nameInScript;
		this.table = table;
		setResourceLoader(resourceLoader);
	}

	/**
	 * Create the lock table if the properties say so.
	 * @param dataSource where
	 * @param properties how
	 * @param resourceLoader finds the script
	 * @param patience how long to try, or {@code null} if the application is to start
	 * without
	 */
	static void createLockTable(DataSource dataSource, DlockJdbcProperties properties, ResourceLoader resourceLoader,
			@Nullable StartPatience patience) {
		create(properties, "lock", properties.getTable(), patience, () -> new JdbcTableInitializer(dataSource,
				properties, resourceLoader, DlockJdbcProperties.DEFAULT_TABLE, properties.getTable()));
	}

	/**
	 * Create the fence table if the properties say so.
	 * @param dataSource where
	 * @param properties how
	 * @param resourceLoader finds the script
	 * @param patience how long to try, or {@code null} if the application is to start
	 * without
	 */
	static void createFenceTable(DataSource dataSource, DlockJdbcProperties properties, ResourceLoader resourceLoader,
			@Nullable StartPatience patience) {
		create(properties, "fence", properties.getFenceTable(), patience, () -> new JdbcTableInitializer(dataSource,
				properties.ofFence(), resourceLoader, FencingGuard.DEFAULT_TABLE, properties.getFenceTable()));
	}

	private static void create(DlockJdbcProperties properties, String what, String table,
			@Nullable StartPatience patience, Supplier<JdbcTableInitializer> initializer) {
		if (properties.getInitializeSchema() == DatabaseInitializationMode.NEVER) {
			return;
		}
		try {
			StartPatience tries = (patience != null) ? patience : new StartPatience(Duration.ZERO);
			tries.use(() -> initializer.get().initializeDatabase());
		}
		catch (StoreMisconfiguredException ex) {
			if (patience != null) {
				throw new FailureAnalyzedException(ex.description(), ex.action(), ex);
			}
			logger.warn(ex.description());
		}
		catch (FirstUseException ex) {
			String problem = "dlock cannot create its %s table '%s': %s".formatted(what, table, rootMessage(ex.last()));
			if (patience != null) {
				throw ex.analyzed(problem, false);
			}
			logger.warn(problem);
		}
	}

	/**
	 * A database asks for the right to create a table before it looks whether it is
	 * there. A table that the user may not read is there; it is checked later.
	 */
	private boolean isThere() {
		try (Connection connection = Objects.requireNonNull(getDataSource()).getConnection();
				Statement statement = connection.createStatement()) {
			statement.execute("SELECT 1 FROM " + this.table + " WHERE 1 = 0");
			return true;
		}
		catch (SQLException ex) {
			StartFailure failure = StartFailure.of(ex);
			if (failure.mayPass()) {
				throw new DataAccessResourceFailureException("The database cannot tell whether the table is there", ex);
			}
			return failure == StartFailure.RIGHT;
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
	 * fail in spite of IF NOT EXISTS; the second time they find it.
	 */
	@Override
	protected void runScripts(Scripts scripts) {
		run(withTable(scripts), true);
	}

	private void run(Scripts named, boolean again) {
		try {
			super.runScripts(named);
		}
		catch (DataAccessException ex) {
			if (StartFailure.of(ex) == StartFailure.RIGHT) {
				if (!isThere()) {
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

	private static String rootMessage(Throwable ex) {
		Throwable root = NestedExceptionUtils.getMostSpecificCause(ex);
		String message = (root instanceof SQLException && root.getMessage() != null) ? root.getMessage()
				: root.toString();
		return message.replaceFirst("[.\\s]+$", "");
	}

}
