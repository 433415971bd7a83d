package io.dlock.autoconfigure;

import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

import io.dlock.LockRegistry;
import io.dlock.engine.LeaseLockRegistry;

/**
 * What the registries of the application count, for gauges. They are asked for when the
 * first gauge is read.
 */
final class LockRegistryCounts {

	private final Supplier<List<LeaseLockRegistry>> registries;

	LockRegistryCounts(ObjectProvider<LockRegistry> registries) {
		this.registries = SingletonSupplier.of(() -> registries.stream()
			.filter(LeaseLockRegistry.class::isInstance)
			.map(LeaseLockRegistry.class::cast)
			.toList());
	}

	int heldLocks() {
		return sum(LeaseLockRegistry::heldLocks);
	}

	int waitingCalls() {
		return sum(LeaseLockRegistry::waitingCalls);
	}

	private int sum(ToIntFunction<LeaseLockRegistry> count) {
		return this.registries.get().stream().mapToInt(count).sum();
	}

}
