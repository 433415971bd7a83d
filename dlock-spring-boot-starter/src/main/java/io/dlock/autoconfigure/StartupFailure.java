package io.dlock.autoconfigure;

import java.io.IOException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreException;

/**
 * The reason why a store cannot be used at the start, and its remedy. The constants that
 * are definite come first: of several reasons in one exception the first counts. For the
 * auto-configurations of dlock only.
 */
public enum StartupFailure {

	/** The store refuses the user or the password. */
	CREDENTIALS("Correct the user and the password: %1$s."),

	/** The user lacks a permission. */
	PERMISSION("Grant the user of the locks the rights that docs/operations.md lists (\"A user for the locks\")."),

	/** The database does not exist. */
	DATABASE("Create the database, or correct its name in %2$s."),

	/** Only one side uses TLS, or the certificate is not trusted. */
	TLS("Enable TLS on both the application and the store, or on neither (%3$s). The application must trust the certificate."),

	/** Any other definite failure. */
	OTHER("Check that the store is up, writable, and that its address, its credentials and its TLS settings are right."),

	/** The name of the host is unknown. */
	HOST("Correct the host name in %4$s, or the name service of this machine."),

	/** The store does not answer. */
	CONNECTION("Start the store, or correct its address in %4$s.");

	private static final Pattern NO_TLS = Pattern
		.compile("(?i)not an SSL/TLS record|unrecognized SSL message|fatal alert|does not support SSL"
				+ "|ssl not enabled|SSL connection required");

	private static final Pattern NO_CREDENTIALS = Pattern.compile(
			"(?s)^-?(WRONGPASS|NOAUTH|ERR (AUTH|Client sent AUTH|invalid password)).*|.*no password was provided.*");

	/**
	 * Redis has no code for a right that is missing inside a script, and other words for
	 * it from 7.0 on.
	 */
	private static final Pattern NO_PERMISSION = Pattern
		.compile("(?s).*(\\bNOPERM |The user executing the script can't|ACL failure in script).*");

	private static final Pattern NO_DATABASE = Pattern.compile("(?s)^-?ERR .*\\bDB index\\b.*");

	/** PostgreSQL, H2. */
	private static final Set<String> STATES_OF_PERMISSIONS = Set.of("42501", "90096", "90040");

	/**
	 * MySQL: no right to a database, a table, a column, to an operation, from this host.
	 */
	private static final Set<Integer> MYSQL_PERMISSIONS = Set.of(1044, 1142, 1143, 1227, 1130);

	private static final int MYSQL_UNKNOWN_DATABASE = 1049;

	/** PostgreSQL and others, H2. */
	private static final Set<String> STATES_OF_DATABASES = Set.of("3D000", "90149");

	/**
	 * The driver of PostgreSQL refuses, in the language of the machine: the server asks
	 * for a password, or has no TLS. With an error code, MySQL has too many connections.
	 */
	private static final String REFUSED_BY_DRIVER = "08004";

	/** Connection exceptions, resources, a server that starts or stops, H2. */
	private static final Pattern NO_CONNECTION = Pattern.compile("08.*|53.*|57P.*|90067");

	private static final int MAX_DEPTH = 20;

	private final String action;

	StartupFailure(String action) {
		this.action = action;
	}

	/**
	 * Find the reason of a failure.
	 * @param ex the failure
	 * @return the most definite reason among its causes
	 */
	public static StartupFailure of(Throwable ex) {
		StartupFailure found = causes(ex, 0).map(StartupFailure::ofOne)
			.filter(Objects::nonNull)
			.min(StartupFailure::compareTo)
			.orElse(OTHER);
		boolean refused = ex instanceof StoreException store && store.isPermanent();
		return (refused && found.isTransient()) ? OTHER : found;
	}

	private static Stream<Throwable> causes(@Nullable Throwable ex, int depth) {
		return (ex == null || depth == MAX_DEPTH) ? Stream.empty()
				: Stream.concat(Stream.of(ex), Stream.concat(causes(ex.getCause(), depth + 1),
						Arrays.stream(ex.getSuppressed()).flatMap((other) -> causes(other, depth + 1))));
	}

	private static @Nullable StartupFailure ofOne(Throwable ex) {
		String message = (ex.getMessage() != null) ? ex.getMessage() : "";
		if (ex instanceof CertificateException || ex instanceof SSLPeerUnverifiedException
				|| ((ex instanceof SSLException || ex instanceof SQLException) && NO_TLS.matcher(message).find())) {
			return TLS;
		}
		if (NO_CREDENTIALS.matcher(message).matches()) {
			return CREDENTIALS;
		}
		if (NO_PERMISSION.matcher(message).matches()) {
			return PERMISSION;
		}
		if (NO_DATABASE.matcher(message).matches()) {
			return DATABASE;
		}
		if (ex instanceof SQLException sql) {
			return ofSql(sql);
		}
		if (ex instanceof UnknownHostException) {
			return HOST;
		}
		return (ex instanceof IOException || ex instanceof StoreException) ? CONNECTION : null;
	}

	private static @Nullable StartupFailure ofSql(SQLException ex) {
		String state = (ex.getSQLState() != null) ? ex.getSQLState() : "";
		if (state.startsWith("28")) {
			return CREDENTIALS;
		}
		if (STATES_OF_PERMISSIONS.contains(state) || MYSQL_PERMISSIONS.contains(ex.getErrorCode())) {
			return PERMISSION;
		}
		if (STATES_OF_DATABASES.contains(state) || ex.getErrorCode() == MYSQL_UNKNOWN_DATABASE) {
			return DATABASE;
		}
		if (REFUSED_BY_DRIVER.equals(state) && ex.getErrorCode() == 0) {
			return OTHER;
		}
		return (ex instanceof SQLTransientConnectionException || NO_CONNECTION.matcher(state).matches()) ? CONNECTION
				: null;
	}

	/**
	 * Whether another attempt may succeed.
	 * @return whether to try again
	 */
	public boolean isTransient() {
		return compareTo(OTHER) > 0;
	}

	/**
	 * The remedy.
	 * @param backend the kind of the store, or {@code null} for one of the application
	 * @return a sentence that names the properties of the credentials, the database, TLS
	 * and the address
	 */
	String action(@Nullable DlockBackend backend) {
		if (backend == null) {
			String own = "the configuration of the store";
			return this.action.formatted(own, own, own, own);
		}
		String nodes = "dlock.quorum.nodes";
		return switch (backend) {
			case REDIS -> this.action.formatted("spring.data.redis.username and spring.data.redis.password",
					"spring.data.redis.database", "spring.data.redis.ssl", "spring.data.redis.*");
			case QUORUM -> this.action.formatted(nodes, nodes, nodes, nodes);
			default -> this.action.formatted("spring.datasource.username and spring.datasource.password",
					"spring.datasource.url", "spring.datasource.url", "spring.datasource.url");
		};
	}

}
