package io.dlock.autoconfigure;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.dlock.LockRegistry;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * C5: the first use of a store that works, is late, or is not there.
 */
@ExtendWith(OutputCaptureExtension.class)
class StoreStartIntegrationTests extends AbstractStoreStartTests {

	private static final String SHORT = "dlock.startup-timeout=2s";

	@ParameterizedTest
	@EnumSource
	void c5WorksWithAStoreThatIsUp(Store store) {
		store.at("127.0.0.1", store.port()).withPropertyValues(LONG).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(LockRegistry.class).acquire(UUID.randomUUID().toString()).release();
		});
	}

	@ParameterizedTest
	@EnumSource
	void c5RefusedConnection(Store store) {
		FailureAnalysis failure = failure(store.at("127.0.0.1", 1), SHORT);
		assertThat(failure.getDescription()).containsIgnoringCase("refused")
			.containsPattern("dlock retried for \\d+ ms");
		assertThat(failure.getAction()).contains("Start the store", "dlock.startup-timeout",
				"dlock.startup-check=false");
	}

	/**
	 * The table is created on a connection of that pool, and with a pool of no size the
	 * locks use it as well.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "dlock.jdbc.initialize-schema=always", "dlock.jdbc.pool-size=0" })
	void c5AttemptOnThePoolOfTheApplicationTakesItsConnectionTimeout(String property) {
		FailureAnalysis failure = failure(Store.POSTGRESQL.at("127.0.0.1", 1), "dlock.startup-timeout=1s",
				"spring.datasource.hikari.connection-timeout=2000", "dlock.jdbc.initialize-schema=never", property);
		assertThat(failure.getDescription()).containsPattern("dlock retried for ([2-9]|\\d\\d+)\\d{3} ms");
	}

	@ParameterizedTest
	@EnumSource
	void c5UnknownHost(Store store) {
		FailureAnalysis failure = failure(store.at("no-such-host.invalid", store.port()), SHORT);
		assertThat(failure.getDescription()).contains("no-such-host.invalid")
			.containsPattern("dlock retried for \\d+ ms");
		assertThat(failure.getAction()).contains("Correct the host name");
	}

	@ParameterizedTest
	@EnumSource
	void c5StoreThatStallsIsWaitedFor(Store store, CapturedOutput output) throws Exception {
		try (TcpProxy proxy = TcpProxy.to("127.0.0.1", store.port())) {
			proxy.blackHole(true);
			CompletableFuture<Void> started = CompletableFuture.runAsync(() -> store.at("127.0.0.1", proxy.port())
				.withPropertyValues(LONG, "dlock.command-timeout=1s")
				.run((context) -> assertThat(context).hasNotFailed()));
			Awaitility.await().until(() -> output.getOut().contains("retrying for up to") || started.isDone());
			assertThat(started).isNotDone();
			proxy.heal();
			started.get();
		}
	}

}
