package io.dlock.metrics;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import io.micrometer.core.instrument.MeterRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The meters in one meter registry. They are looked up once for each name, because a
 * lookup costs more than all the rest.
 */
final class RegistryMeters {

	private static final Log logger = LogFactory.getLog(RegistryMeters.class);

	static final int MAX_NAMES = 1000;

	private final MeterRegistry registry;

	private final List<NamedGauge> gauges;

	private final Map<String, NamedMeters> byName = new ConcurrentHashMap<>();

	private final AtomicBoolean warned = new AtomicBoolean();

	RegistryMeters(MeterRegistry registry, List<NamedGauge> gauges) {
		this.registry = registry;
		this.gauges = gauges;
		gauges.forEach((gauge) -> gauge.registerOthers(registry, this.byName.keySet()));
	}

	NamedMeters of(@Nullable String lockName) {
		String name = (lockName != null) ? lockName : LockCountsByName.NO_NAME;
		NamedMeters meters = this.byName.get(name);
		return (meters != null) ? meters : create(name);
	}

	private NamedMeters create(String name) {
		if (this.byName.size() < MAX_NAMES) {
			return this.byName.computeIfAbsent(name, this::meters);
		}
		if (this.warned.compareAndSet(false, true)) {
			logger.warn(
					"Locks have more than %d names, such as '%s'. Further names are metered as '%s'. Use few names, and put what varies into the key"
						.formatted(MAX_NAMES, name, LockCountsByName.OTHER_NAMES));
		}
		return this.byName.computeIfAbsent(LockCountsByName.OTHER_NAMES, this::meters);
	}

	private NamedMeters meters(String name) {
		if (!name.equals(LockCountsByName.OTHER_NAMES)) {
			this.gauges.forEach((gauge) -> gauge.register(this.registry, name));
		}
		return new NamedMeters(this.registry, name);
	}

}
