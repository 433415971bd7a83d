package io.dlock.autoconfigure.actuate;

import java.security.Principal;
import java.time.Duration;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.context.ApplicationEventPublisher;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

/**
 * The endpoint {@code dlocks} of a process with locks, for users with and without rights.
 */
abstract class AbstractDlocksEndpointTests {

	static final String KEY = "customer:jane";

	final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(),
			LockSettings.builder().shutdownTimeout(Duration.ZERO).build());

	@AfterEach
	void closeRegistry() {
		this.registry.close();
	}

	/**
	 * Hold the lock with a handle that belongs to no thread: it may be lost, and no other
	 * test of this thread is to find it.
	 */
	final LockHandle hold() {
		return this.registry.acquireAsync(LockRequest.of(KEY)).join();
	}

	final LockHandle hold(String key, @Nullable String name, @Nullable String reason) {
		return this.registry.acquireAsync(LockRequest.builder(key).name(name).reason(reason).build()).join();
	}

	final DlocksEndpoint endpoint(Show forcedRelease, Show showKeys) {
		return endpoint(forcedRelease, showKeys, (event) -> {
		});
	}

	final DlocksEndpoint endpoint(Show forcedRelease, Show showKeys, ApplicationEventPublisher publisher) {
		return new DlocksEndpoint(this.registry,
				new DlocksEndpointProperties(forcedRelease, Set.of("LOCKSMITH"), 100, showKeys, Set.of("READER")),
				new HiddenKeys(), new ForcedReleaseAudit(publisher));
	}

	record User(@Nullable String role, String name) implements SecurityContext {

		User(@Nullable String role) {
			this(role, "jane");
		}

		@Override
		public @Nullable Principal getPrincipal() {
			return (this.role != null) ? () -> this.name : null;
		}

		@Override
		public boolean isUserInRole(String wanted) {
			return wanted.equals(this.role);
		}

	}

}
