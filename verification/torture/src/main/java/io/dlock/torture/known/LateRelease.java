package io.dlock.torture.known;

import java.time.Duration;

import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.torture.known.KnownBug.Evidence;

/**
 * A releases after its lease, when B holds the lock. Does C get it, too?
 */
final class LateRelease {

	private static final Duration SHORT = Duration.ofSeconds(5);

	private static final Duration LONG = Duration.ofSeconds(30);

	private LateRelease() {
	}

	static Evidence of(LockProvider one, LockProvider other, LockProvider third, String key) {
		SimpleLock late = one.lock(Connections.lock(key, SHORT)).orElseThrow();
		Scene.pause(SHORT.plusMillis(200));
		Scene.require(other.lock(Connections.lock(key, LONG)).isPresent());
		boolean before = third.lock(Connections.lock(key, LONG)).isPresent();
		late.unlock();
		boolean after = third.lock(Connections.lock(key, LONG)).isPresent();
		return evidence(before, after, "was not told of its loss");
	}

	static Evidence of(LockRegistry one, LockRegistry other, LockRegistry third, String key) {
		LockHandle late = Scene.tryAcquire(one, key, Duration.ZERO, SHORT).orElseThrow();
		Scene.pause(SHORT.plusMillis(200));
		Scene.require(Scene.tryAcquire(other, key, Duration.ZERO, LONG).isPresent());
		boolean before = Scene.isGranted(third, key);
		String told = Scene.release(late);
		return evidence(before, Scene.isGranted(third, key), told);
	}

	private static Evidence evidence(boolean before, boolean after, String told) {
		return new Evidence(!before && after,
				"the lease of A ended, B holds the lock for 30 s, C %s; A released late and %s; C %s".formatted(
						before ? "got it" : "is refused", told, after ? "got the lock of B" : "is still refused"));
	}

}
