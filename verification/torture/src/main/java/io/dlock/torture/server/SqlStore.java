package io.dlock.torture.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

import io.dlock.test.MariaDbServer;
import io.dlock.test.PostgresServer;

/**
 * A database whose commits are on disk. Clients log in as {@value #USER}, who may do
 * nothing but what an application may, so that limits hold for them and not for the
 * administrator.
 */
public final class SqlStore implements StoreUnderTest {

	/**
	 * The user of the clients, and the password.
	 */
	public static final String USER = "torture";

	private final StoreType type;

	private final Supplier<Server> server;

	private final String database;

	private final Login admin;

	private final Queries queries;

	private final Extras extras;

	private SqlStore(StoreType type, Supplier<Server> server, String database, Login admin, Queries queries,
			Extras extras) {
		this.type = type;
		this.server = server;
		this.database = database;
		this.admin = admin;
		this.queries = queries;
		this.extras = extras;
	}

	/**
	 * With a disk of its own if no commit may be lost, with a standby if some may.
	 */
	static SqlStore startPostgres(Mode mode) {
		return mode.durable() ? startPostgresAlone(mode) : startPostgresPair(mode);
	}

	private static SqlStore startPostgresAlone(Mode mode) {
		PostgresServer server = PostgresServer.start(mode.environment(), "-c", "fsync=on", "-c",
				// off so that it needs room for each segment
				"wal_recycle=" + (mode.breakable() ? "off" : "on"));
		Optional<LimitedDisk> disk = mode.disk();
		Server running = Server.of(server);
		SqlStore store = postgres(server, () -> running, new Extras(disk, Optional.empty(), () -> {
			server.close();
			disk.ifPresent(LimitedDisk::close);
		}));
		disk.ifPresent(store::moveLog);
		return store;
	}

	/**
	 * With a quarantine commits are on the disk of the primary, and nothing else knows
	 * them.
	 */
	private static SqlStore startPostgresPair(Mode mode) {
		PostgresPair pair = PostgresPair.start(mode.environment(), "-c", "fsync=on", "-c",
				"synchronous_commit=" + (mode.quarantine().isPresent() ? "on" : "off"), "-c", "wal_keep_size=256MB");
		return postgres(pair.primary(), () -> Server.of(pair.primary()),
				new Extras(Optional.empty(), Optional.of(pair), pair::close));
	}

	private static SqlStore postgres(PostgresServer server, Supplier<Server> running, Extras extras) {
		SqlStore store = new SqlStore(StoreType.POSTGRES, running, "postgres",
				new Login(server.username(), server.password()),
				// the note of the quarantine is there for good
				new Queries("lease_until > clock_timestamp() AND lock_key <> '!quarantine'",
						"SELECT pid FROM pg_stat_activity WHERE usename = '" + USER + "'",
						"SELECT pid FROM pg_stat_activity WHERE state <> 'idle' AND usename = '" + USER + "'",
						"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '" + USER + "'"),
				extras);
		store.createSchema("schema-postgresql.sql", "CREATE ROLE torture LOGIN PASSWORD 'torture'",
				"GRANT SELECT, INSERT, UPDATE, DELETE ON dlock_lock, shedlock, int_lock TO torture");
		return store;
	}

	/**
	 * Let the write-ahead log be on a disk that can be full.
	 */
	private void moveLog(LimitedDisk disk) {
		try {
			Path log = Path.of(texts("SHOW data_directory").get(0), "pg_wal");
			ServerNode node = nodes().get(0);
			node.kill();
			Path moved = disk.directory().resolve("pg_wal");
			LimitedDisk.move(log, moved);
			Files.createSymbolicLink(log, moved);
			node.restart();
		}
		catch (SQLException | IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static SqlStore startMariaDb(Mode mode) {
		MariaDbServer server = MariaDbServer.start(mode.environment(),
				"--innodb-flush-log-at-trx-commit=" + (mode.durable() ? "1" : "0"), "--extra-max-connections=5",
				// so that commits can wait for a replica
				"--server-id=1", "--log-bin=binlog", "--binlog-format=ROW", "--max-binlog-total-size=256M",
				"--slave-connections-needed-for-purge=0", "--rpl-semi-sync-master-timeout=600000");
		Server running = new Server(ServerNode.of("mariadb", server), server.mariaDbUrl());
		SqlStore store = new SqlStore(StoreType.MARIADB, () -> running, server.database(),
				new Login(server.username(), server.password()),
				new Queries("lease_until > UTC_TIMESTAMP(6)",
						"SELECT id FROM information_schema.processlist WHERE user = '" + USER + "'",
						"SELECT id FROM information_schema.processlist WHERE command <> 'Sleep' AND user = '" + USER
								+ "'",
						"KILL CONNECTION USER " + USER),
				new Extras(Optional.empty(), Optional.empty(), server::close));
		store.createSchema("schema-mysql.sql", "CREATE USER torture IDENTIFIED BY 'torture'",
				"GRANT SELECT, INSERT, UPDATE, DELETE ON " + server.database() + ".* TO torture");
		return store;
	}

	private void createSchema(String script, String... more) {
		try (Connection connection = open()) {
			ScriptUtils.executeSqlScript(connection, new ClassPathResource("io/dlock/store/jdbc/" + script));
			ScriptUtils.executeSqlScript(connection,
					new ClassPathResource("io/dlock/torture/peers-" + this.type.label() + ".sql"));
			for (String sql : more) {
				try (Statement statement = connection.createStatement()) {
					statement.execute(sql);
				}
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public StoreType type() {
		return this.type;
	}

	@Override
	public List<ServerNode> nodes() {
		return List.of(this.server.get().node());
	}

	@Override
	public Optional<LimitedDisk> disk() {
		return this.extras.disk();
	}

	/**
	 * The server and its standby.
	 * @return the pair, if there is a standby
	 */
	public Optional<PostgresPair> pair() {
		return this.extras.pair();
	}

	@Override
	public List<String> clientOptions(int port) {
		return List.of("--store=" + this.type.label(), "--host=127.0.0.1", "--port=" + port, "--username=" + USER,
				"--password=" + USER, "--database=" + this.database);
	}

	/**
	 * Connect as administrator, past all proxies.
	 * @return the connection, to be closed
	 * @throws SQLException if the server does not answer
	 */
	public Connection open() throws SQLException {
		return DriverManager.getConnection(this.server.get().url(), this.admin.user(), this.admin.password());
	}

	/**
	 * Run a statement as administrator.
	 * @param sql the statement
	 * @throws SQLException if it fails
	 */
	public void execute(String sql) throws SQLException {
		executeAll(List.of(sql));
	}

	/**
	 * Run statements as administrator, one after the other on one connection.
	 * @param statements the statements
	 * @throws SQLException if one fails
	 */
	public void executeAll(List<String> statements) throws SQLException {
		try (Connection connection = open(); Statement statement = connection.createStatement()) {
			for (String sql : statements) {
				statement.execute(sql);
			}
		}
	}

	/**
	 * Connect as clients do, past all proxies.
	 * @return the connection, to be closed
	 * @throws SQLException if that is refused
	 */
	public Connection openAsClient() throws SQLException {
		return DriverManager.getConnection(this.server.get().url(), USER, USER);
	}

	/**
	 * Run a query as administrator.
	 * @param sql the query
	 * @return its first column
	 * @throws SQLException if it fails
	 */
	public List<String> texts(String sql) throws SQLException {
		List<String> texts = new ArrayList<>();
		try (Connection connection = open();
				Statement statement = connection.createStatement();
				ResultSet result = statement.executeQuery(sql)) {
			while (result.next()) {
				texts.add(result.getString(1));
			}
		}
		return texts;
	}

	/**
	 * The connections of the clients.
	 * @return their ids
	 * @throws SQLException if the server does not answer
	 */
	public List<String> clientConnections() throws SQLException {
		return texts(this.queries.connections());
	}

	/**
	 * End the connections of the clients.
	 * @throws SQLException if the server does not answer
	 */
	public void killClientConnections() throws SQLException {
		execute(this.queries.kill());
	}

	@Override
	public Map<String, Long> figures() {
		try {
			Map<String, Long> figures = new TreeMap<>();
			figures.put("rows", Long.valueOf(texts("SELECT COUNT(*) FROM dlock_lock").get(0)));
			figures.put("locks",
					Long.valueOf(texts("SELECT COUNT(*) FROM dlock_lock WHERE " + this.queries.held()).get(0)));
			figures.put("connections", (long) clientConnections().size());
			figures.put("connections-in-use", (long) texts(this.queries.busy()).size());
			return figures;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.extras.close().run();
	}

	private record Server(ServerNode node, String url) {

		static Server of(PostgresServer server) {
			return new Server(ServerNode.of("postgres", server), server.jdbcUrl());
		}

	}

	private record Extras(Optional<LimitedDisk> disk, Optional<PostgresPair> pair, Runnable close) {

	}

	private record Login(String user, String password) {

	}

	private record Queries(String held, String connections, String busy, String kill) {

	}

}
