package io.dlock.metrics;

import java.util.Set;
import java.util.function.Supplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;

/**
 * A gauge that each name has.
 *
 * @param meter the name of the meter
 * @param description its description
 * @param unit its unit, or {@code null} if it is a number of something
 * @param counts its values
 */
record NamedGauge(String meter, String description, @Nullable String unit, NamedCounts counts) {

	void register(MeterRegistry registry, String name) {
		register(registry, name, () -> this.counts.of(name));
	}

	/**
	 * Register the gauge of all that has none of its own.
	 * @param registry where
	 * @param names those that have one
	 */
	void registerOthers(MeterRegistry registry, Set<String> names) {
		register(registry, NamedCounts.OTHER_NAMES, () -> this.counts.ofOthers(names));
	}

	private void register(MeterRegistry registry, String name, Supplier<Number> value) {
		Gauge.builder(this.meter, value)
			.description(this.description)
			.baseUnit(this.unit)
			.tag("name", name)
			.register(registry);
	}

}
