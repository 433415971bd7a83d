package io.dlock.autoconfigure.actuate.console;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockSettings;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.autoconfigure.actuate.DlocksEndpointProperties;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.Quarantine;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The first use of a server begins a quarantine.
 */
class ConsoleQuarantineIntegrationTests {

	@Test
	void quarantineOfTheStoreIsShownWithItsRemainingTime() {
		try (RedisServer server = RedisServer.start()) {
			LettuceConnectionFactory factory = LettuceFactories.create(server.host(), server.port());
			RedisLockStore store = new RedisLockStore(factory,
					RedisLockStoreSettings.defaults()
						.withCommandTimeout(Patience.COMMAND)
						.withQuarantine(new Quarantine(Duration.ofMinutes(10), Duration.ZERO)));
			try (store; LeaseLockRegistry registry = new LeaseLockRegistry(store, LockSettings.defaults())) {
				DlocksConsole console = new DlocksConsole(registry, new ConsoleEvents(),
						new DlocksEndpointProperties(Show.NEVER, Set.of(), 100, Show.NEVER, Set.of()),
						new HiddenKeys());
				Awaitility.await().until(() -> state(console).state().equals("up"));
				assertThat(state(console).warnings()).asString().contains("grants no lock for another");
				assertThat(state(console).quarantineSeconds()).isBetween(500.0, 600.0);
			}
			finally {
				factory.destroy();
			}
		}
	}

	private static ConsoleDescriptor.Store state(DlocksConsole console) {
		Object state = console.console(SecurityContext.NONE, "console.json", null, null, null, null).getBody();
		return ((ConsoleDescriptor) Objects.requireNonNull(state)).store();
	}

}
