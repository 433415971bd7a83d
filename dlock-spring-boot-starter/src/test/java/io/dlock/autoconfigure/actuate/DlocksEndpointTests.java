package io.dlock.autoconfigure.actuate;

import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rights of users at the endpoint {@code dlocks}.
 */
class DlocksEndpointTests {

	private static final String KEY = "customer:jane";

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(),
			LockSettings.defaults().withShutdownTimeout(Duration.ZERO));

	@AfterEach
	void closeRegistry() {
		this.registry.close();
	}

	/**
	 * Hold the lock with a handle that belongs to no thread: it may be lost, and no other
	 * test of this thread is to find it.
	 */
	private LockHandle hold() {
		return this.registry.acquireAsync(LockRequest.of(KEY)).join();
	}

	private DlocksEndpoint endpoint(Show forcedRelease, Show showKeys) {
		return new DlocksEndpoint(this.registry,
				new DlocksEndpointProperties(forcedRelease, Set.of("LOCKSMITH"), 100, showKeys, Set.of("READER")),
				new ForcedReleaseAudit((event) -> {
				}));
	}

	/**
	 * Without Spring Security a request has no user.
	 */
	@ParameterizedTest
	@CsvSource({ "NEVER, LOCKSMITH, 403, off", "WHEN_AUTHORIZED, LOCKSMITH, 200, released",
			"WHEN_AUTHORIZED, READER, 403, unauthorized", "WHEN_AUTHORIZED, , 403, unauthorized",
			"ALWAYS, , 200, released" })
	void r55ForcedReleaseAsksForItsRole(Show forcedRelease, @Nullable String role, int status, String outcome) {
		LockHandle handle = hold();
		WebEndpointResponse<ForcedReleaseDescriptor> response = endpoint(forcedRelease, Show.ALWAYS)
			.forceRelease(new User(role), KEY, handle.token());
		assertThat(response.getStatus()).isEqualTo(status);
		assertThat(response.getBody().outcome()).isEqualTo(outcome);
		assertThat(handle.isValid()).isEqualTo(status != 200);
	}

	@Test
	void r57GuessIsNotConfirmedToACallerThatMayNotSeeKeys() {
		LockHandle handle = hold();
		DlocksEndpoint endpoint = endpoint(Show.WHEN_AUTHORIZED, Show.WHEN_AUTHORIZED);
		User user = new User("LOCKSMITH");
		assertThat(endpoint.locks(user, KEY, null)).usingRecursiveComparison()
			.isEqualTo(endpoint.locks(user, "customer:john", null));
		assertThat(endpoint.locks(user, KEY, null).getStatus()).isEqualTo(403);
		assertThat(endpoint.forceRelease(user, KEY, 1)).usingRecursiveComparison()
			.isEqualTo(endpoint.forceRelease(user, "customer:john", 1));
		assertThat(endpoint.locks(new User("READER"), KEY, null).getStatus()).isEqualTo(200);
		assertThat(handle.isValid()).isTrue();
	}

	@Test
	void r57HiddenKeyIsTheSameInOneProcessOnly() {
		try (LockHandle handle = this.registry.acquire(KEY)) {
			assertThat(handle.isValid()).isTrue();
			DlocksEndpoint endpoint = endpoint(Show.NEVER, Show.NEVER);
			List<String> shown = shown(endpoint);
			assertThat(shown).hasSize(2)
				.containsOnly(shown.get(0))
				.allMatch((key) -> key.matches("hidden:[0-9a-f]{32}"));
			assertThat(shown(endpoint)).isEqualTo(shown);
			assertThat(shown(endpoint(Show.NEVER, Show.NEVER))).doesNotContainAnyElementsOf(shown);
		}
	}

	private static List<String> shown(DlocksEndpoint endpoint) {
		LocksDescriptor locks = (LocksDescriptor) endpoint.locks(new User("LOCKSMITH"), null, null).getBody();
		return List.of(locks.held().get(0).key(), locks.store().locks().get(0).key());
	}

	private record User(@Nullable String role) implements SecurityContext {

		@Override
		public @Nullable Principal getPrincipal() {
			return (this.role != null) ? () -> "jane" : null;
		}

		@Override
		public boolean isUserInRole(String wanted) {
			return wanted.equals(this.role);
		}

	}

}
