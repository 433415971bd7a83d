package io.dlock.autoconfigure.metrics;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

import io.dlock.LockRegistry;
import io.dlock.console.LockCounts;
import io.dlock.engine.LeaseLockRegistry;

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

	Map<String, Integer> heldLocks() {
		return together(LockCounts::heldByName, Integer::sum);
	}

	Map<String, Integer> waitingCalls() {
		return together(LockCounts::waitingByName, Integer::sum);
	}

	Map<String, Duration> longestHolds() {
		return together(LockCounts::longestHoldsByName, (one, other) -> (one.compareTo(other) >= 0) ? one : other);
	}

	private <T> Map<String, T> together(Function<LockCounts, Map<String, T>> counts, BinaryOperator<T> merge) {
		return this.registries.get()
			.stream()
			.flatMap((registry) -> counts.apply(registry.counts()).entrySet().stream())
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, merge));
	}

}
