package io.dlock.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockMode;
import io.dlock.aop.InvalidLockedMethodException;
import io.dlock.autoconfigure.redis.DlockQuorumAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.quorum.QuorumLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The configuration of a quorum, without its servers.
 */
class QuorumPropertiesTests {

	private static final String NODES = "dlock.quorum.nodes=redis://a,redis://b,redis://c";

	private final ApplicationContextRunner withoutBackend = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockQuorumAutoConfiguration.class))
		.withPropertyValues("dlock.startup-check=false", NODES);

	private final ApplicationContextRunner runner = this.withoutBackend.withPropertyValues("dlock.backend=quorum");

	static class Fair {

		@DistributedLocked(name = "stock", fair = true)
		public void call() {
		}

	}

	static class Shared {

		@DistributedLocked(name = "stock", mode = LockMode.SHARED)
		public void call() {
		}

	}

	static class Limited {

		@DistributedLimit(name = "stock", limit = "2")
		public void call() {
		}

	}

	static class TooLong {

		@DistributedLocked(name = "stock", lease = "61s")
		public void call() {
		}

	}

	private static FailureAnalysis failure(ApplicationContextRunner application, String... properties) {
		return AbstractStoreStartTests.failure(application, properties);
	}

	@Test
	void storeIsOfTheNodesWithOrWithoutARedisOfTheApplication() {
		ApplicationContextRunner both = this.runner.withConfiguration(
				AutoConfigurations.of(DataRedisAutoConfiguration.class, DlockRedisAutoConfiguration.class));
		for (ApplicationContextRunner application : new ApplicationContextRunner[] { this.runner, both }) {
			application.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(LockStore.class)).isInstanceOf(QuorumLockStore.class);
				assertThat(context.getBean(LockStore.class).describe()).isEqualTo(
						"quorum of 3 (redis (Lettuce, a:6379), redis (Lettuce, b:6379), redis (Lettuce, c:6379))");
				assertThat(context.getBean(LeaseLockRegistry.class).settings().longestLease())
					.isEqualTo(Duration.ofMinutes(1));
			});
		}
	}

	@Test
	void nodesThatLoseTheirDataAreInQuarantine() {
		this.runner.run((context) -> assertThat(context.getBean(LockStore.class).quarantine()).isPresent());
		this.runner.withPropertyValues("dlock.quorum.longest-lease=0s")
			.run((context) -> assertThat(context.getBean(LockStore.class).quarantine()).isEmpty());
	}

	@Test
	void nodesCanBeAList() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockQuorumAutoConfiguration.class))
			.withPropertyValues("dlock.startup-check=false", "dlock.backend=quorum", "dlock.quorum.nodes[0]=redis://a",
					"dlock.quorum.nodes[1]=rediss://b", "dlock.quorum.nodes[2]=redis://:p,w@c")
			.run((context) -> assertThat(context.getBean(LockStore.class).describe()).contains("a:6379", "b:6379",
					"c:6379"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "redis://a,redis://b", "redis://a,redis://b,redis://c,redis://d" })
	void fewOrEvenNodesFailTheStart(String nodes) {
		FailureAnalysis failure = failure(this.runner, "dlock.quorum.nodes=" + nodes);
		assertThat(failure.getDescription())
			.contains("'dlock.quorum.nodes' must be an odd number of servers, at least 3");
		assertThat(failure.getAction()).isEqualTo("Correct dlock.quorum.nodes.");
	}

	@Test
	void nodesWithoutTheBackendFailTheStart() {
		ApplicationContextRunner withRedis = this.withoutBackend.withConfiguration(
				AutoConfigurations.of(DataRedisAutoConfiguration.class, DlockRedisAutoConfiguration.class));
		for (ApplicationContextRunner application : new ApplicationContextRunner[] { this.withoutBackend, withRedis }) {
			FailureAnalysis failure = failure(application);
			assertThat(failure.getDescription()).contains("dlock.quorum.nodes has servers");
			assertThat(failure.getAction()).contains("Set dlock.backend=quorum");
		}
	}

	@Test
	void nodesAreIgnoredByAnotherBackend() {
		this.withoutBackend.withPropertyValues("dlock.backend=memory", "dlock.lease=2m").run((context) -> {
			assertThat(context.getBean(LockStore.class)).isInstanceOf(MemoryLockStore.class);
			assertThat(context.getBean(LeaseLockRegistry.class).settings().longestLease()).isNull();
		});
	}

	@Test
	void applicationWithoutLettuceFailsTheStart() {
		FailureAnalysis failure = failure(this.runner.withClassLoader(new FilteredClassLoader("io.lettuce")));
		assertThat(failure.getDescription()).contains("dlock.backend is 'quorum', but the application has no Lettuce");
		assertThat(failure.getAction()).contains("Add spring-boot-starter-data-redis");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					dlock.fair=true                                                   | dlock.fair is true, but the lock store, quorum of 3
					dlock.failover.quarantine=lease,dlock.failover.longest-lease=30s  | does not apply to the lock store
					dlock.lease=61s                                                   | longer than the longest lease of 60000 ms
					dlock.failover.longest-lease=29s                                  | longer than the longest lease of 29000 ms
					dlock.quorum.longest-lease=29s                                    | longer than the longest lease of 29000 ms
					dlock.quorum.wrong-clocks=2                                       | must be fewer than half of the 3 nodes
					dlock.redis.prefix={a}                                            | redis.prefix' must be 1 to 100
					""")
	void settingThatDoesNotFitFailsTheStart(String properties, String message) {
		assertThat(failure(this.runner, properties.split(",")).getDescription()).contains(message);
	}

	@Test
	void nodesThatNeverLoseDataAllowEveryLease() {
		this.runner.withPropertyValues("dlock.quorum.longest-lease=0s", "dlock.lease=2h")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			Fair    | Lock 'stock' cannot be fair, because the store has no fair locks (quorum of 3
			Shared  | Lock 'stock' cannot be shared, because the store has exclusive locks only (quorum of 3
			Limited | 'stock' cannot have a limit, because the store has exclusive locks only (quorum of 3
			TooLong | longer than the longest lease of 60000 ms
			""")
	void methodThatTheQuorumCannotLockFailsTheStart(String type, String message) throws Exception {
		this.runner.withBean(Class.forName(getClass().getName() + "$" + type))
			.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining(message)
				.hasStackTraceContaining(InvalidLockedMethodException.class.getName()));
	}

	@Test
	void nodesNeedNoReplicas() {
		assertThat(failure(this.runner, "dlock.redis.acknowledge=replicas").getDescription())
			.contains("dlock.redis.acknowledge is 'replicas', which does not apply to locks with dlock.backend=quorum");
	}

}
