package io.dlock.torture.known;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.LockRegistry;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;

/**
 * A lock is acquired inside a transaction of the caller that began six seconds ago. The
 * thread about it is of the provider for jOOQ, which is not available from Maven Central
 * today; this one is for {@code JdbcTemplate}.
 */
final class AmbientTransaction implements KnownBug {

	private static final Duration OLD = Duration.ofSeconds(6);

	private static final Duration LEASE = Duration.ofSeconds(5);

	@Override
	public String title() {
		return "ShedLock, JdbcTemplate (reported of jOOQ): a lock taken inside an old transaction has already expired";
	}

	@Override
	public Class<?> peer() {
		return JdbcTemplateLockProvider.class;
	}

	@Override
	public Evidence onPeer(Scene scene) {
		HikariDataSource pool = scene.postgres();
		LockProvider holder = Connections.shedLockWithDbTime(pool);
		LockProvider other = Connections.shedLockWithDbTime(scene.postgres());
		return inside(pool, () -> holder.lock(Connections.lock("b26", LEASE)).isPresent(),
				() -> other.lock(Connections.lock("b26", LEASE)).isPresent());
	}

	@Override
	public Evidence onOurs(Scene scene) {
		HikariDataSource pool = scene.postgres();
		LockRegistry holder = scene.ours(new JdbcLockStore(pool, JdbcLockStoreSettings.defaults()));
		LockRegistry other = scene.ourPostgres();
		return inside(pool, () -> Scene.tryAcquire(holder, "b26", Duration.ZERO, LEASE).isPresent(),
				() -> Scene.isGranted(other, "b26"));
	}

	private static Evidence inside(HikariDataSource pool, BooleanSupplier holder, BooleanSupplier other) {
		TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(pool));
		Boolean held = transaction.execute((status) -> {
			new JdbcTemplate(pool).execute("SELECT now()");
			Scene.pause(OLD);
			return holder.getAsBoolean();
		});
		boolean too = other.getAsBoolean();
		return new Evidence(Boolean.TRUE.equals(held) && too,
				"A %s the lock for 5 s in a transaction that was 6 s old; after its commit B %s"
					.formatted(Boolean.TRUE.equals(held) ? "got" : "did not get", too ? "got it, too" : "is refused"));
	}

}
