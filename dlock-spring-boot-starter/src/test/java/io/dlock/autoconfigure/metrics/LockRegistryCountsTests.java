package io.dlock.autoconfigure.metrics;

import java.time.Duration;
import java.util.Optional;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The counts of several registries.
 */
class LockRegistryCountsTests {

	private static LeaseLockRegistry registry(Duration quarantine) {
		LockStore store = mock();
		given(store.quarantine()).willReturn(Optional.of(quarantine));
		return new LeaseLockRegistry(store, LockSettings.defaults());
	}

	@Test
	void quarantineIsTheLongestOfAllRegistries() {
		try (LeaseLockRegistry first = registry(Duration.ofSeconds(10));
				LeaseLockRegistry second = registry(Duration.ofSeconds(30));
				LeaseLockRegistry third = registry(Duration.ofSeconds(20))) {
			DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
			assertThat(new LockRegistryCounts(beans).quarantine()).isZero();
			beans.registerSingleton("first", first);
			beans.registerSingleton("second", second);
			beans.registerSingleton("third", third);
			assertThat(new LockRegistryCounts(beans).quarantine()).isEqualTo(Duration.ofSeconds(30));
		}
	}

	@Test
	void registryOfAParentIsCounted() {
		try (LeaseLockRegistry registry = registry(Duration.ofSeconds(10))) {
			DefaultListableBeanFactory parent = new DefaultListableBeanFactory();
			parent.registerSingleton("registry", registry);
			assertThat(new LockRegistryCounts(new DefaultListableBeanFactory(parent)).quarantine())
				.isEqualTo(Duration.ofSeconds(10));
		}
	}

	@Test
	void quarantineIsMetered() {
		try (LeaseLockRegistry registry = registry(Duration.ofSeconds(10))) {
			DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
			beans.registerSingleton("registry", registry);
			SimpleMeterRegistry meters = new SimpleMeterRegistry();
			new DlockMetricsAutoConfiguration().dlockMeters(beans).bindTo(meters);
			assertThat(meters.get("dlock.quarantine").gauge().value()).isEqualTo(10);
		}
	}

}
