package io.dlock.torture.known;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockStoreException;

/**
 * The statement that acquires has to wait for six seconds: a process was stopped between
 * its update of the row and its commit.
 */
final class TimeBeforeTheWait implements KnownBug {

	private static final Duration LEASE = Duration.ofSeconds(5);

	private static final Duration BLOCKED = Duration.ofSeconds(6);

	@Override
	public String title() {
		return "ShedLock, JDBC, time of the database: the lease begins before the wait for the row, and is over after it";
	}

	@Override
	public Class<?> peer() {
		return JdbcTemplateLockProvider.class;
	}

	@Override
	public Evidence onPeer(Scene scene) throws Exception {
		HikariDataSource pool = scene.postgres();
		LockProvider holder = Connections.shedLockWithDbTime(pool);
		LockProvider other = Connections.shedLockWithDbTime(scene.postgres());
		holder.lock(Connections.lock("b28", LEASE)).orElseThrow().unlock();
		Scene.pause(Duration.ofMillis(100));
		CompletableFuture<Boolean> held = block(scene, pool, "SELECT * FROM shedlock WHERE name = 'b28' FOR UPDATE",
				() -> holder.lock(Connections.lock("b28", LEASE)).isPresent());
		boolean too = other.lock(Connections.lock("b28", LEASE)).isPresent();
		return new Evidence(held.get() && too, "A %s the lock for 5 s after its statement had waited for 6 s; B %s"
			.formatted(held.get() ? "got" : "did not get", too ? "got it at the same time" : "is refused"));
	}

	@Override
	public Evidence onOurs(Scene scene) throws Exception {
		HikariDataSource pool = scene.postgres();
		LockRegistry holder = scene.ourPostgres();
		LockRegistry other = scene.ourPostgres();
		Scene.tryAcquire(holder, "b28", Duration.ZERO, LEASE).ifPresent(LockHandle::release);
		CompletableFuture<Boolean> held = block(scene, pool,
				"SELECT * FROM dlock_lock WHERE lock_key LIKE '%b28%' FOR UPDATE", () -> isHeld(holder));
		boolean too = Scene.isGranted(other, "b28");
		return new Evidence(held.get() && too,
				"A, with a wait time of 15 s, %s while the row was blocked for 6 s; B %s afterwards".formatted(
						held.get() ? "got the lock" : "was told that the store failed", too ? "got it" : "is refused"));
	}

	private static boolean isHeld(LockRegistry registry) {
		try {
			return Scene.tryAcquire(registry, "b28", Duration.ofSeconds(15), LEASE)
				.map(LockHandle::isValid)
				.orElse(false);
		}
		catch (LockStoreException ex) {
			return false;
		}
	}

	/**
	 * Keep the row for a while, and wait for who wants it meanwhile.
	 */
	private static CompletableFuture<Boolean> block(Scene scene, HikariDataSource pool, String sql,
			Scene.Action<Boolean> acquire) throws Exception {
		try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			statement.execute(sql);
			CompletableFuture<Boolean> waiting = scene.start(acquire);
			Scene.pause(BLOCKED);
			connection.commit();
			waiting.get();
			return waiting;
		}
	}

}
