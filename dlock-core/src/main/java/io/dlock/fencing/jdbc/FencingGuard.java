package io.dlock.fencing.jdbc;

import java.util.regex.Pattern;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.StringUtils;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.fencing.StaleTokenException;
import io.dlock.store.StorageKey;

/**
 * Keeps a stale holder, which has lost its lock and does not know it yet, from writing to
 * a database: one line in the transaction, before anything is read or written.
 *
 * <pre class="code">
 * &#64;DistributedLocked(name = "stock", key = "#product")
 * &#64;Transactional
 * public void sell(String product) {
 *     this.fencingGuard.check();
 *     ...
 * }
 * </pre>
 *
 * The guard remembers the highest {@linkplain LockHandle#token() fencing token} of each
 * resource in a row of the table {@value #DEFAULT_TABLE}. It refuses a lower token, and
 * otherwise locks the row until the transaction ends. Once the check has passed, no later
 * holder can write before this transaction has committed, and no holder with a lower
 * token can write afterwards. If the transaction is rolled back, the row is as before. A
 * holder may check as often as it wants. The local validity of the lock is not checked:
 * the database alone decides.
 * <p>
 * Rules: all writers of a resource check it, in the database they write to, and before
 * they read what they write depends on: otherwise a stale holder could still write
 * between the read and the check. The tokens are those of one and the same lock key,
 * because tokens of different keys say nothing about each other.
 * <p>
 * Works on PostgreSQL, MySQL, MariaDB and H2 with any transaction manager that Spring's
 * {@code JdbcTemplate} takes part in. The script {@code schema-<database>.sql} beside
 * this class creates the table. It has a row for each resource that was written to, and
 * rows are never removed.
 *
 * @since 0.1
 */
public final class FencingGuard {

	/**
	 * The name of the table unless another is given.
	 */
	public static final String DEFAULT_TABLE = "dlock_fence";

	private static final Pattern TABLE = Pattern
		.compile("[A-Za-z_][A-Za-z0-9_]{0,62}(\\.[A-Za-z_][A-Za-z0-9_]{0,62})?");

	private final JdbcTemplate jdbc;

	private final DatabaseTransaction transaction;

	private final String table;

	private volatile @Nullable FenceDialect dialect;

	/**
	 * Create a guard on the table {@value #DEFAULT_TABLE}. Nothing is opened before the
	 * first check.
	 * @param dataSource the database, the same bean that the transactions are on
	 */
	public FencingGuard(DataSource dataSource) {
		this(dataSource, DEFAULT_TABLE);
	}

	/**
	 * Create a guard. Nothing is opened before the first check.
	 * @param dataSource the database, the same bean that the transactions are on
	 * @param table the fence table, with or without its schema: letters, digits and
	 * underscores
	 */
	public FencingGuard(DataSource dataSource, String table) {
		if (!TABLE.matcher(table).matches()) {
			throw new IllegalArgumentException(
					"'fenceTable' must be a name of up to 63 letters, digits or underscores, "
							+ "after a schema and a dot if need be, but is '" + table + "'");
		}
		this.jdbc = new JdbcTemplate(dataSource);
		this.transaction = new DatabaseTransaction(dataSource);
		this.table = table;
	}

	/**
	 * Check the token of the current lock, for the resource that has the name of its key.
	 * @throws StaleTokenException if a later holder has written; the transaction must be
	 * rolled back
	 * @throws IllegalStateException if the calling thread holds no lock, or there is no
	 * transaction on the database of this guard
	 * @see LockHandle#current()
	 */
	public void check() {
		LockHandle handle = current();
		check(handle.key(), handle.token());
	}

	/**
	 * Check the token of the current lock for a resource. Inside several locks, the
	 * innermost is the current one. A permit is not a lock.
	 * @param resource the resource to write, not blank, of any length. Names are compared
	 * exactly: case, accents and trailing spaces count
	 * @throws StaleTokenException if a later holder has written; the transaction must be
	 * rolled back
	 * @throws IllegalStateException if the calling thread holds no lock, or there is no
	 * transaction on the database of this guard
	 * @see LockHandle#current()
	 */
	public void check(String resource) {
		check(resource, current().token());
	}

	/**
	 * Check a token for a resource: that of a lock that belongs to no thread, or one that
	 * another service has sent along with its request.
	 * @param resource the resource to write, not blank, of any length. Names are compared
	 * exactly: case, accents and trailing spaces count
	 * @param token the fencing token, positive
	 * @throws StaleTokenException if a later holder has written; the transaction must be
	 * rolled back
	 * @throws IllegalStateException if there is no transaction on the database of this
	 * guard
	 */
	@SuppressWarnings("NullAway") // for callers that are not null-checked
	public void check(String resource, long token) {
		if (resource == null || resource.isBlank()) {
			throw new IllegalArgumentException(
					"The fenced resource must have a name: a blank one would be one fence for everything");
		}
		if (token <= 0) {
			throw new IllegalArgumentException("A fencing token is positive, but this one is " + token);
		}
		requireTransaction(resource);
		long newest = raise(StorageKey.of(resource), token);
		if (newest != token) {
			throw new StaleTokenException(resource, token, newest);
		}
	}

	private static LockHandle current() {
		return LockContext.all()
			.stream()
			.filter((handle) -> !handle.isPermit())
			.findFirst()
			.orElseThrow(() -> new IllegalStateException(
					"This thread holds no lock whose fencing token could be checked. Check it in a @DistributedLocked "
							+ "method or in LockRegistry.execute, or name the token: check(resource, handle.token())"));
	}

	private void requireTransaction(String resource) {
		if (!this.transaction.isActive()) {
			throw new IllegalStateException(
					"The fence must be checked in the transaction that writes, but there is none on this database: "
							+ "what is written after the check of '%s' would not be protected. Make the method @Transactional"
								.formatted(StringUtils.truncate(StorageKey.of(resource), 200)));
		}
	}

	private long raise(String resource, long token) {
		try {
			return dialect().raise(this.jdbc, resource, token);
		}
		catch (BadSqlGrammarException ex) {
			throw new IllegalStateException(
					"The fence table '%s' cannot be used (%s). Create it with the script schema-<database>.sql of dlock-core "
						.formatted(this.table, ex.getMostSpecificCause().getMessage())
							+ "(package io.dlock.fencing.jdbc); for the guard of the starter, dlock.jdbc.initialize-schema=always does so",
					ex);
		}
	}

	private FenceDialect dialect() {
		FenceDialect known = this.dialect;
		if (known == null) {
			known = FenceDialect.of(this.jdbc, this.table);
			this.dialect = known;
		}
		return known;
	}

}
