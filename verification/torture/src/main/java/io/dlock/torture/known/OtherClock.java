package io.dlock.torture.known;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;

import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.test.PostgresServer;
import io.dlock.torture.ChildJvm;
import io.dlock.torture.fault.ClockOffset;
import io.dlock.torture.fault.ClockShim;
import io.dlock.torture.known.KnownBug.Evidence;

/**
 * A process whose clock is five minutes fast, and that tries to lock a key.
 */
public final class OtherClock {

	private static final Duration FAST = Duration.ofMinutes(5);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private OtherClock() {
	}

	public static void main(String[] args) throws Exception {
		try (HikariDataSource pool = Connections.pool(args[1], args[2], args[3])) {
			System.out.println("GRANTED " + switch (args[0]) {
				case "shedlock" ->
					Connections.shedLock(pool).lock(Connections.lock(args[4], Duration.ofMinutes(1))).isPresent();
				case "spring-integration" ->
					new JdbcLockRegistry(Connections.springIntegration(pool)).obtain(args[4]).tryLock();
				default -> {
					try (JdbcLockStore store = new JdbcLockStore(pool, JdbcLockStoreSettings.defaults());
							LeaseLockRegistry registry = new LeaseLockRegistry(store, LockSettings.defaults())) {
						yield Scene.isGranted(registry, args[4]);
					}
				}
			});
		}
		System.exit(0);
	}

	/**
	 * Let such a process try.
	 * @param contender the contender
	 * @param key the key, held by another process
	 * @return what happened
	 */
	static Evidence tryLock(String contender, String key) throws IOException, InterruptedException {
		Path directory = Files.createDirectories(Path.of("target", "known-bugs"));
		ClockOffset clock = ClockShim.compile(directory).orElseThrow().clock(directory.resolve("other.clock"));
		clock.set(FAST);
		PostgresServer server = PostgresServer.shared();
		ChildJvm process = ChildJvm.start(OtherClock.class.getName(),
				List.of(contender, server.jdbcUrl(), server.username(), server.password(), key), clock.environment(),
				directory.resolve("other.out"));
		try {
			boolean granted = Boolean.parseBoolean(process.await("GRANTED", PATIENCE));
			return new Evidence(granted, "A holds the lock for a minute; B, whose clock is five minutes fast, "
					+ (granted ? "got it at once" : "was refused"));
		}
		finally {
			process.kill();
		}
	}

}
