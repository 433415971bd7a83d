package io.dlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.dlock.DistributedLocked;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockListener;
import io.dlock.LockStoreException;
import io.dlock.OnStoreFailure;
import io.dlock.autoconfigure.metrics.DlockMetricsAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The behavior of an application while its Redis is down.
 */
@ExtendWith(OutputCaptureExtension.class)
class StoreFailurePropertyIntegrationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockRedisAutoConfiguration.class));

	static class Work {

		private final List<String> runs = new ArrayList<>();

		@DistributedLocked(key = "#root.method.name", waitTime = "0s")
		public void byDefault() {
			this.runs.add("default, locked: " + LockHandle.current().isPresent());
		}

		@DistributedLocked(key = "#root.method.name", waitTime = "0s", onStoreFailure = OnStoreFailure.THROW)
		public void throwing() {
			this.runs.add("throwing");
		}

		public List<String> getRuns() {
			return this.runs;
		}

	}

	@Test
	void methodsThrowUnlessTheConfigurationSaysProceed(CapturedOutput output) {
		this.runner.withBean(Work.class).withPropertyValues("dlock.backend=memory").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("on-store-failure");
		});
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.on-store-failure=proceed").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN").contains("dlock.on-store-failure is 'proceed'");
		});
	}

	@Test
	void methodsProceedWithoutTheirLockWhileRedisIsDownAndThatIsCounted(CapturedOutput output) {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		try (RedisServer redis = RedisServer.start()) {
			this.runner
				.withConfiguration(
						AutoConfigurations.of(DataRedisAutoConfiguration.class, MetricsAutoConfiguration.class,
								SimpleMetricsExportAutoConfiguration.class, DlockMetricsAutoConfiguration.class))
				.withBean(Work.class)
				.withBean(LockListener.class, () -> events::add)
				.withPropertyValues("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port(),
						"dlock.on-store-failure=proceed", "dlock.command-timeout=5s")
				.run((context) -> {
					Work work = context.getBean(Work.class);
					work.byDefault();
					redis.kill();
					work.byDefault();
					work.byDefault();
					assertThatExceptionOfType(LockStoreException.class).isThrownBy(work::throwing);
					assertThat(work.getRuns()).containsExactly("default, locked: true", "default, locked: false",
							"default, locked: false");
					assertThat(events).filteredOn(LockEvent.StoreFailed.class::isInstance)
						.extracting((event) -> ((LockEvent.StoreFailed) event).failOpen())
						.containsExactly(true, true, false);
					MeterRegistry meters = context.getBean(MeterRegistry.class);
					assertThat(meters.get("dlock.store.failures")
						.tags("name", "Work.byDefault", "fail.open", "true")
						.counter()
						.count()).isEqualTo(2);
					assertThat(output.getOut().split("runs without its lock", -1)).as("one warning").hasSize(2);
				});
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "fallback", "default" })
	void valueThatIsNoDefaultIsRefused(String policy) {
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.on-store-failure=" + policy)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(FailureAnalyzedException.class)
				.hasMessageContaining("dlock.on-store-failure is '" + policy + "'"));
	}

	@Test
	void unknownPolicyIsRefused() {
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.on-store-failure=hope")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("hope"));
	}

}
