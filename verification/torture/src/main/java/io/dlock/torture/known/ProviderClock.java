package io.dlock.torture.known;

import java.time.Duration;

import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

/**
 * Without {@code usingDbTime()}, the clock of the client decides.
 */
final class ProviderClock implements KnownBug {

	@Override
	public String title() {
		return "ShedLock, JDBC, default settings: a client with a fast clock takes a lock that is held";
	}

	@Override
	public Class<?> peer() {
		return JdbcTemplateLockProvider.class;
	}

	@Override
	public Evidence onPeer(Scene scene) throws Exception {
		Scene.require(Connections.shedLock(scene.postgres())
			.lock(Connections.lock("b27", Duration.ofMinutes(1)))
			.isPresent());
		return OtherClock.tryLock("shedlock", "b27");
	}

	@Override
	public Evidence onOurs(Scene scene) throws Exception {
		Scene.require(Scene.tryAcquire(scene.ourPostgres(), "b27", Duration.ZERO, Duration.ofMinutes(1)).isPresent());
		return OtherClock.tryLock("dlock", "b27");
	}

}
