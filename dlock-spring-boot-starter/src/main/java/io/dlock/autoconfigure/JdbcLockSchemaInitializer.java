package io.dlock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.dao.DataAccessException;

/**
 * Creates the lock table, as {@code dlock.jdbc.initialize-schema} says. In the scripts
 * the table goes by its default name, which is replaced by the configured one.
 */
final class JdbcLockSchemaInitializer extends PropertiesBasedDataSourceScriptDatabaseInitializer<DlockJdbcProperties> {

	private final String table;

	JdbcLockSchemaInitializer(DataSource dataSource, DlockJdbcProperties properties, ResourceLoader resourceLoader) {
		super(dataSource, properties, Map.of(DatabaseDriver.MARIADB, "mysql"));
		this.table = properties.getTable();
		setResourceLoader(resourceLoader);
	}

	void createTable() {
		try {
			initializeDatabase();
		}
		catch (RuntimeException ex) {
			throw new FailureAnalyzedException(
					"dlock could not create its lock table '%s': %s".formatted(this.table, rootMessage(ex)),
					"Check the database and the rights of its user, or create the table with your own migration "
							+ "and set dlock.jdbc.initialize-schema=never.",
					ex);
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
				named.add(new ByteArrayResource(
						text.replace(DlockJdbcProperties.DEFAULT_TABLE, this.table).getBytes(encoding),
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
