package io.dlock.benchmarks;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

/**
 * The servers on which all libraries are measured. PostgreSQL is durable: with
 * {@code fsync} off it would be a different database.
 */
public final class Servers implements AutoCloseable {

	private final Map<Backend, ServerAddress> addresses = new EnumMap<>(Backend.class);

	private Runnable close = () -> {
	};

	/**
	 * Start servers.
	 * @param backends which
	 * @return the running servers
	 */
	public static Servers start(Set<Backend> backends) {
		Servers servers = new Servers();
		if (backends.contains(Backend.REDIS)) {
			servers.startRedis();
		}
		if (backends.contains(Backend.POSTGRES)) {
			servers.startPostgres();
		}
		return servers;
	}

	private void startRedis() {
		RedisServer redis = RedisServer.start();
		this.addresses.put(Backend.REDIS, new ServerAddress(Backend.REDIS, redis.host(), redis.port()));
		closeLater(redis::close);
	}

	private void startPostgres() {
		PostgresServer postgres = PostgresServer.start("-c", "fsync=on", "-c", "synchronous_commit=on");
		closeLater(postgres::close);
		ServerAddress address = new ServerAddress(Backend.POSTGRES, postgres.host(), postgres.port());
		this.addresses.put(Backend.POSTGRES, address);
		try (HikariDataSource pool = address.pool(); Connection connection = pool.getConnection()) {
			ScriptUtils.executeSqlScript(connection,
					new ClassPathResource("io/dlock/store/jdbc/schema-postgresql.sql"));
			ScriptUtils.executeSqlScript(connection,
					new ClassPathResource("io/dlock/benchmarks/tables-of-the-others.sql"));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void closeLater(Runnable server) {
		Runnable others = this.close;
		this.close = () -> {
			server.run();
			others.run();
		};
	}

	/**
	 * The server of a kind.
	 * @param backend the kind
	 * @return its address
	 */
	public ServerAddress address(Backend backend) {
		ServerAddress address = this.addresses.get(backend);
		if (address == null) {
			throw new IllegalArgumentException(backend + " was not started");
		}
		return address;
	}

	public Set<Backend> backends() {
		return this.addresses.keySet();
	}

	@Override
	public void close() {
		this.close.run();
	}

}
