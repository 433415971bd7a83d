package io.dlock.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * A real PostgreSQL server on the loopback interface.
 * <p>
 * {@value #URL_PROPERTY} is the JDBC URL of a running server to use as the shared one,
 * with the user {@value #USERNAME} and the password {@value #PASSWORD}.
 */
public final class PostgresServer extends LocalServer {

	static final String URL_PROPERTY = "dlock.test.postgres-url";

	private static final String USERNAME = "postgres";

	private static final String PASSWORD = "dlock";

	private final URI uri;

	private PostgresServer(String jdbcUrl) {
		this.uri = URI.create(jdbcUrl.substring("jdbc:".length()));
	}

	private PostgresServer(boolean shared, Map<String, String> environment, List<Path> files, String... extraArgs) {
		int port = ServerProcess.reservePort();
		this.uri = URI.create("postgresql://127.0.0.1:" + port + "/postgres");
		Path directory = ServerProcess.newDirectory("postgres");
		List<String> prefix = dropRoot(Stream.concat(Stream.of(directory), files.stream()).toArray(Path[]::new));
		ServerProcess.copy(Prepared.DATA, directory.resolve("data"));
		run(directory, prefix, shared, environment, extraArgs);
	}

	/**
	 * Start a standby, with a copy of the files that its primary has just now.
	 */
	private PostgresServer(PostgresServer primary, int port, Map<String, String> environment, String... extraArgs) {
		this.uri = URI.create("postgresql://127.0.0.1:" + ServerProcess.reservePort() + "/postgres");
		Path directory = ServerProcess.newDirectory("postgres-standby");
		List<String> prefix = dropRoot(directory);
		primary.copyFiles(directory);
		Path data = directory.resolve("data");
		ServerProcess.unlessExiting(() -> {
			Files.delete(data.resolve("postmaster.pid"));
			Files.createFile(data.resolve("standby.signal"));
			return Files.writeString(data.resolve("postgresql.auto.conf"),
					"primary_conninfo = 'host=127.0.0.1 port=%d user=%s password=%s'%n".formatted(port, USERNAME,
							PASSWORD));
		});
		run(directory, prefix, false, environment, extraArgs);
	}

	private void run(Path directory, List<String> prefix, boolean shared, Map<String, String> environment,
			String... extraArgs) {
		// QUIT is the immediate shutdown: it waits for no client and still removes the
		// shared memory, which KILL does not
		List<String> command = concat(prefix, Prepared.binary("postgres"), "-D", directory.resolve("data").toString(),
				"-h", "127.0.0.1", "-p", Integer.toString(port()), "-k", "", "-c", "max_connections=200", "-c",
				"fsync=off", "-c", "timezone=UTC");
		started(new RestartableServer(directory, "QUIT", concat(command, extraArgs), environment, this::connect),
				shared);
	}

	/**
	 * The work of pg_basebackup, which is not among these binaries.
	 */
	private void copyFiles(Path directory) {
		Path data = directory.resolve("data");
		try (Connection connection = DriverManager.getConnection(jdbcUrl(), USERNAME, PASSWORD);
				Statement statement = connection.createStatement()) {
			String source = text(statement, "SHOW data_directory");
			text(statement, "SELECT pg_backup_start('standby', true)");
			ServerProcess.copy(Path.of(source), data);
			String label = text(statement, "SELECT labelfile FROM pg_backup_stop(false)");
			Path file = data.resolve("backup_label");
			Files.writeString(file, label);
			Files.setOwner(file, Files.getOwner(data));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String text(Statement statement, String query) throws SQLException {
		try (ResultSet result = statement.executeQuery(query)) {
			result.next();
			return result.getString(1);
		}
	}

	/**
	 * Return the server that all tests of this JVM share. It runs until the JVM ends,
	 * {@link #close()} does not stop it.
	 * @return the shared server
	 */
	public static PostgresServer shared() {
		return Shared.INSTANCE;
	}

	/**
	 * Start a server of its own.
	 * @param extraArgs further arguments, which override the defaults
	 * @return the server
	 */
	public static PostgresServer start(String... extraArgs) {
		return start(Map.of(), extraArgs);
	}

	/**
	 * Start a server of its own with more environment variables.
	 * @param environment the variables
	 * @param extraArgs further arguments, which override the defaults
	 * @return the server
	 */
	public static PostgresServer start(Map<String, String> environment, String... extraArgs) {
		return new PostgresServer(false, environment, List.of(), extraArgs);
	}

	/**
	 * Start a server of its own with files that it must own, such as a private key.
	 * @param files the files
	 * @param extraArgs further arguments, which override the defaults
	 * @return the server
	 */
	public static PostgresServer start(List<Path> files, String... extraArgs) {
		return new PostgresServer(false, Map.of(), files, extraArgs);
	}

	/**
	 * Start a server that follows this one, some time behind, until it is promoted.
	 * @param port the port on 127.0.0.1 where it reaches this server
	 * @param environment variables to add to those of this JVM
	 * @param extraArgs further arguments, which override the defaults
	 * @return the standby, which answers queries
	 */
	public PostgresServer startStandby(int port, Map<String, String> environment, String... extraArgs) {
		return new PostgresServer(this, port, environment, extraArgs);
	}

	public String host() {
		return this.uri.getHost();
	}

	public int port() {
		return (this.uri.getPort() != -1) ? this.uri.getPort() : 5432;
	}

	public String jdbcUrl() {
		return "jdbc:" + this.uri;
	}

	/**
	 * Return the URL of the same database behind a {@link TcpProxy}.
	 * @param proxyPort the port of the proxy
	 * @return the JDBC URL
	 */
	public String jdbcUrl(int proxyPort) {
		String query = (this.uri.getRawQuery() != null) ? "?" + this.uri.getRawQuery() : "";
		return "jdbc:postgresql://127.0.0.1:" + proxyPort + this.uri.getRawPath() + query;
	}

	public String username() {
		return USERNAME;
	}

	public String password() {
		return PASSWORD;
	}

	private void connect() throws SQLException {
		String url = jdbcUrl() + (jdbcUrl().contains("?") ? "&" : "?") + "loginTimeout=5&socketTimeout=5";
		try (Connection connection = DriverManager.getConnection(url, USERNAME, PASSWORD)) {
			connection.createStatement().execute("select 1");
		}
	}

	/**
	 * PostgreSQL refuses to run as root. A user namespace drops root without a change of
	 * the owner of any file; where it is forbidden, as in most containers, the server
	 * runs as nobody.
	 */
	private static List<String> dropRoot(Path... files) {
		if (!ServerProcess.isRoot(files[0])) {
			return List.of();
		}
		List<String> namespace = List.of("unshare", "--user");
		try {
			ServerProcess.run(files[0], concat(namespace, "true"));
			return namespace;
		}
		catch (IllegalStateException | UncheckedIOException ex) {
			return becomeNobody(files);
		}
	}

	private static List<String> becomeNobody(Path... files) {
		try {
			UserPrincipal nobody = files[0].getFileSystem()
				.getUserPrincipalLookupService()
				.lookupPrincipalByName("nobody");
			for (Path file : files) {
				Files.setOwner(file, nobody);
			}
			return List.of("setpriv", "--reuid=nobody", "--regid=65534", "--clear-groups");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static List<String> concat(List<String> prefix, String... command) {
		List<String> all = new ArrayList<>(prefix);
		all.addAll(List.of(command));
		return all;
	}

	private static final class Shared {

		static final PostgresServer INSTANCE = create();

		private static PostgresServer create() {
			String url = System.getProperty(URL_PROPERTY);
			return (url != null) ? new PostgresServer(url) : new PostgresServer(true, Map.of(), List.of());
		}

	}

	private static final class Prepared {

		private static final Path BINARIES = PreparedFiles.get("postgres-" + version(), Prepared::unpack);

		static final Path DATA = PreparedFiles.get("postgres-password-" + version(), Prepared::createData)
			.resolve("data");

		static String binary(String name) {
			return BINARIES.resolve("bin").resolve(name).toString();
		}

		/**
		 * The first bytes of the compressed archive differ from version to version.
		 */
		private static String version() {
			CRC32 checksum = new CRC32();
			checksum.update(ServerProcess.unlessExiting(() -> {
				try (InputStream archive = archive()) {
					return archive.readNBytes(100_000);
				}
			}));
			return Long.toHexString(checksum.getValue());
		}

		private static InputStream archive() throws IOException {
			String system = (System.getProperty("os.name").startsWith("Mac")) ? "Darwin" : "Linux";
			return DefaultPostgresBinaryResolver.INSTANCE.getPgBinary(system, System.getProperty("os.arch"));
		}

		private static void unpack(Path directory) throws IOException {
			try (TarArchiveInputStream archive = new TarArchiveInputStream(new XZInputStream(archive()))) {
				for (TarArchiveEntry entry = archive.getNextEntry(); entry != null; entry = archive.getNextEntry()) {
					unpack(archive, entry, directory.resolve(entry.getName()));
				}
			}
		}

		private static void unpack(TarArchiveInputStream archive, TarArchiveEntry entry, Path file) throws IOException {
			if (entry.isDirectory()) {
				Files.createDirectories(file);
				return;
			}
			Files.createDirectories(file.getParent());
			if (entry.isSymbolicLink()) {
				Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
				return;
			}
			Files.copy(archive, file);
			if ((entry.getMode() & 0100) != 0) {
				file.toFile().setExecutable(true, false);
			}
		}

		/**
		 * Passwords are sent as they are: the thousands of hashes of SCRAM would be most
		 * of what a connection costs.
		 */
		private static void createData(Path directory) throws IOException {
			Path passwordFile = Files.writeString(directory.resolve("password"), PASSWORD);
			ServerProcess.run(directory,
					concat(dropRoot(directory, passwordFile), binary("initdb"), "-D",
							directory.resolve("data").toString(), "-U", USERNAME, "-A", "password", "--pwfile",
							passwordFile.toString(), "-E", "UTF-8", "--no-locale", "--no-sync"));
		}

	}

}
