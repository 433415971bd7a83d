package io.dlock.metrics;

import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;

import io.dlock.console.LockCount;
import io.dlock.console.LockKind;

/**
 * A gauge that each name has for each kind of lock.
 *
 * @param meter the name of the meter
 * @param description its description
 * @param unit its unit, or {@code null} if it is a number of something
 * @param counts the locks and requests
 * @param value its value
 */
record NamedGauge(String meter, String description, @Nullable String unit, LockCountsByName counts,
		ToDoubleFunction<LockCount> value) {

	void register(MeterRegistry registry, String name) {
		register(registry, name, (kind) -> this.counts.of(name, kind));
	}

	/**
	 * Register the gauges of all that has none of its own.
	 * @param registry where
	 * @param names those that have one
	 */
	void registerOthers(MeterRegistry registry, Set<String> names) {
		register(registry, LockCountsByName.OTHER_NAMES, (kind) -> this.counts.ofOthers(names, kind));
	}

	private void register(MeterRegistry registry, String name, Function<LockKind, LockCount> count) {
		for (LockKind kind : LockKind.values()) {
			Gauge.builder(this.meter, () -> this.value.applyAsDouble(count.apply(kind)))
				.description(this.description)
				.baseUnit(this.unit)
				.tag("name", name)
				.tag("kind", kind.name().toLowerCase(Locale.ROOT))
				.register(registry);
		}
	}

}
