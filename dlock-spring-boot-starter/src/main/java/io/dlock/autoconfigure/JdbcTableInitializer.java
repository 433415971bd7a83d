package io.dlock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.dao.DataAccessException;

import io.dlock.fencing.jdbc.FencingGuard;

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
	 * @param required whether the application is not to start without
	 */
	static void createLockTable(DataSource dataSource, DlockJdbcProperties properties, ResourceLoader resourceLoader,
			boolean required) {
		create(properties, "lock", properties.getTable(), required, () -> new JdbcTableInitializer(dataSource,
				properties, resourceLoader, DlockJdbcProperties.DEFAULT_TABLE, properties.getTable()));
	}

	/**
	 * Create the fence table if the properties say so.
	 * @param dataSource where
	 * @param properties how
	 * @param resourceLoader finds the script
	 * @param required whether the application is not to start without
	 */
	static void createFenceTable(DataSource dataSource, DlockJdbcProperties properties, ResourceLoader resourceLoader,
			boolean required) {
		create(properties, "fence", properties.getFenceTable(), required, () -> new JdbcTableInitializer(dataSource,
				properties.ofFence(), resourceLoader, FencingGuard.DEFAULT_TABLE, properties.getFenceTable()));
	}

	private static void create(DlockJdbcProperties properties, String what, String table, boolean required,
			Supplier<JdbcTableInitializer> initializer) {
		if (properties.getInitializeSchema() == DatabaseInitializationMode.NEVER) {
			return;
		}
		try {
			initializer.get().initializeDatabase();
		}
		catch (RuntimeException ex) {
			String description = "dlock could not create its %s table '%s': %s.".formatted(what, table,
					rootMessage(ex));
			if (required) {
				throw new FailureAnalyzedException(description,
						"Check that the database is up and what its user may do, or create the table with your own migration "
								+ "and set dlock.jdbc.initialize-schema=never.",
						ex);
			}
			logger.warn(description);
		}
	}

	/**
	 * Of several instances that start at once, one creates the table and the others may
	 * fail in spite of IF NOT EXISTS; the second time they find it.
	 */
	@Override
	protected void runScripts(Scripts scripts) {
		Scripts named = withTable(scripts);
		try {
			super.runScripts(named);
		}
		catch (DataAccessException ex) {
			super.runScripts(named);
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

	private static @Nullable String rootMessage(Throwable ex) {
		Throwable root = ex;
		while (root.getCause() != null && root.getCause() != root) {
			root = root.getCause();
		}
		return root.getMessage();
	}

}
