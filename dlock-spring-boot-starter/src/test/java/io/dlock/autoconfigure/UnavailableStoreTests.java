package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.LockRegistry;
import io.dlock.LockStoreException;
import io.dlock.store.LockStore;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;

/**
 * Starts without a store that works.
 */
class UnavailableStoreTests extends AbstractAutoConfigurationTests {

	@Test
	void unreachableStoreFailsTheStart() {
		this.redisRunner
			.withPropertyValues("spring.data.redis.port=1", "dlock.command-timeout=1s", "dlock.startup-timeout=0s")
			.run((context) -> {
				FailureAnalyzedException ex = failure(context);
				assertThat(ex.analysis().getDescription()).contains("127.0.0.1:1");
				assertThat(ex.analysis().getAction()).contains("dlock.startup-check=false");
			});
	}

	@Test
	void unreachableDatabaseFailsTheStart() {
		for (String mode : List.of("embedded", "always")) {
			this.jdbcRunner
				.withPropertyValues("spring.datasource.url=jdbc:postgresql://127.0.0.1:1/nothing",
						"spring.datasource.hikari.connection-timeout=300", "dlock.command-timeout=1s",
						"dlock.startup-timeout=0s", "dlock.jdbc.initialize-schema=" + mode)
				.run((context) -> assertThat(failure(context).analysis().getDescription()).contains("lock"));
		}
		this.jdbcRunner
			.withPropertyValues("spring.datasource.url=jdbc:postgresql://127.0.0.1:1/nothing",
					"spring.datasource.hikari.connection-timeout=300", "dlock.command-timeout=1s",
					"dlock.startup-check=false")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				LockRegistry registry = context.getBean(LockRegistry.class);
				assertThatExceptionOfType(LockStoreException.class)
					.isThrownBy(() -> registry.tryAcquire("key", Duration.ZERO));
			});
	}

	@Test
	void c10FailingScriptFailsTheStartUnlessItMayContinue() {
		ApplicationContextRunner broken = this.jdbcRunner.withPropertyValues("dlock.jdbc.initialize-schema=always",
				"dlock.jdbc.schema=classpath:io/dlock/autoconfigure/broken-schema.sql");
		broken.run((context) -> assertThat(failure(context).analysis().getDescription())
			.contains("dlock cannot create its lock table 'dlock_lock'")
			.contains("NO_TABLE"));
		broken.withPropertyValues("dlock.jdbc.continue-on-error=true").run(AbstractAutoConfigurationTests::works);
	}

	@Test
	void adviceForAStoreOfTheApplicationNamesNoPropertyOfAnother() {
		LockStore store = mock();
		given(store.describe()).willReturn("etcd (localhost)");
		willThrow(new StoreException(Effect.NONE, false, "no answer", null)).given(store).verify();
		this.runner.withBean(LockStore.class, () -> store)
			.withPropertyValues("dlock.startup-timeout=0s")
			.run((context) -> assertThat(failure(context).analysis().getAction())
				.startsWith("Start the store, or correct its address in the configuration of the store."));
	}

	@Test
	void unreachableStoreIsAcceptedOnDemand() {
		this.redisRunner.withPropertyValues("spring.data.redis.port=1", "dlock.startup-check=false").run((context) -> {
			assertThat(context).hasNotFailed();
			LockRegistry registry = context.getBean(LockRegistry.class);
			assertThatExceptionOfType(LockStoreException.class)
				.isThrownBy(() -> registry.tryAcquire("key", Duration.ZERO));
		});
	}

}
