package io.dlock.torture.known;

import java.time.Duration;

import org.springframework.integration.jdbc.lock.JdbcLockRegistry;

/**
 * The clock of the client decides whether a lock has expired.
 */
final class RegistryClock implements KnownBug {

	@Override
	public String title() {
		return "Spring Integration, JDBC: a client with a fast clock takes a lock that is held";
	}

	@Override
	public Class<?> peer() {
		return JdbcLockRegistry.class;
	}

	@Override
	public Evidence onPeer(Scene scene) throws Exception {
		new JdbcLockRegistry(Connections.springIntegration(scene.postgres()), Duration.ofMinutes(1)).obtain("b10")
			.lock();
		return OtherClock.tryLock("spring-integration", "b10");
	}

	@Override
	public Evidence onOurs(Scene scene) throws Exception {
		Scene.require(Scene.tryAcquire(scene.ourPostgres(), "b10", Duration.ZERO, Duration.ofMinutes(1)).isPresent());
		return OtherClock.tryLock("dlock", "b10");
	}

}
