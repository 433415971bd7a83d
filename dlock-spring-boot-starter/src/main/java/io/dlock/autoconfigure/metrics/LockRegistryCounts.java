package io.dlock.autoconfigure.metrics;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

import io.dlock.LockRegistry;
import io.dlock.console.LockCount;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.quorum.QuorumLockStore;
import io.dlock.store.quorum.QuorumNodeStatus;

/**
 * The counts of the registries of the application by name, for gauges. The registries are
 * looked up when the first gauge is read.
 */
final class LockRegistryCounts {

	private final Supplier<List<LeaseLockRegistry>> registries;

	LockRegistryCounts(ListableBeanFactory beans) {
		this.registries = SingletonSupplier
			.of(() -> BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, LockRegistry.class)
				.values()
				.stream()
				.filter(LeaseLockRegistry.class::isInstance)
				.map(LeaseLockRegistry.class::cast)
				.toList());
	}

	Collection<LockCount> byName() {
		return LockCount.sum(this.registries.get().stream().flatMap((registry) -> registry.counts().byName().stream()));
	}

	long answeringNodes() {
		return this.registries.get()
			.stream()
			.map(LeaseLockRegistry::store)
			.filter(QuorumLockStore.class::isInstance)
			.flatMap((store) -> ((QuorumLockStore) store).nodes().stream())
			.filter(QuorumNodeStatus::answering)
			.count();
	}

	Duration quarantine() {
		return this.registries.get()
			.stream()
			.map((registry) -> registry.counts().quarantine())
			.max(Duration::compareTo)
			.orElse(Duration.ZERO);
	}

}
