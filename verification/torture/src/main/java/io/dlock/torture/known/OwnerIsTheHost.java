package io.dlock.torture.known;

import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

/**
 * A release that looks for the host only.
 */
final class OwnerIsTheHost implements KnownBug {

	@Override
	public String title() {
		return "ShedLock, JDBC, time of the database: a late release frees the lock of the next holder on the same host";
	}

	@Override
	public Class<?> peer() {
		return JdbcTemplateLockProvider.class;
	}

	@Override
	public Evidence onPeer(Scene scene) {
		return LateRelease.of(Connections.shedLockWithDbTime(scene.postgres()),
				Connections.shedLockWithDbTime(scene.postgres()), Connections.shedLockWithDbTime(scene.postgres()),
				"b11");
	}

	@Override
	public Evidence onOurs(Scene scene) {
		return LateRelease.of(scene.ourPostgres(), scene.ourPostgres(), scene.ourPostgres(), "b11");
	}

}
