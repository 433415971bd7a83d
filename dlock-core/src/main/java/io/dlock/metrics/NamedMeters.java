package io.dlock.metrics;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

import io.dlock.LockEvent;
import io.dlock.LossType;

/**
 * The meters of the locks of one name.
 */
final class NamedMeters {

	/** Of a lease that is renewed in time, at least two thirds are left. */
	private static final Duration[] REMAINING_BUCKETS = { Duration.ofMillis(100), Duration.ofMillis(300),
			Duration.ofSeconds(1), Duration.ofSeconds(3), Duration.ofSeconds(10) };

	private final Timer acquired;

	private final Timer busy;

	private final Timer failed;

	private final Timer released;

	private final Timer lost;

	private final Timer remaining;

	private final Counter renewed;

	private final Counter notRenewed;

	private final Counter failedClosed;

	private final Counter failedOpen;

	private final Map<LossType, Counter> losses = new EnumMap<>(LossType.class);

	NamedMeters(MeterRegistry registry, String name) {
		MeterProvider<Timer> wait = Timer.builder("dlock.wait")
			.description("Time from the request of a lock to its outcome")
			.tag("name", name)
			.withRegistry(registry);
		this.acquired = wait.withTag("outcome", "acquired");
		this.busy = wait.withTag("outcome", "busy");
		this.failed = wait.withTag("outcome", "failed");
		MeterProvider<Timer> hold = Timer.builder("dlock.hold")
			.description("Time that a lock was held")
			.tag("name", name)
			.withRegistry(registry);
		this.released = hold.withTag("outcome", "released");
		this.lost = hold.withTag("outcome", "lost");
		this.remaining = Timer.builder("dlock.remaining")
			.description("How much longer a lock would have been valid when it was released")
			.tag("name", name)
			.serviceLevelObjectives(REMAINING_BUCKETS)
			.register(registry);
		MeterProvider<Counter> renewals = Counter.builder("dlock.renewals")
			.description("Renewals of leases")
			.tag("name", name)
			.withRegistry(registry);
		this.renewed = renewals.withTag("outcome", "renewed");
		this.notRenewed = renewals.withTag("outcome", "failed");
		MeterProvider<Counter> failures = Counter.builder("dlock.store.failures")
			.description("Requests of a lock that the store did not decide")
			.tag("name", name)
			.withRegistry(registry);
		this.failedClosed = failures.withTag("fail.open", "false");
		this.failedOpen = failures.withTag("fail.open", "true");
		MeterProvider<Counter> byReason = Counter.builder("dlock.lost")
			.description("Locks that were lost while they were held")
			.tag("name", name)
			.withRegistry(registry);
		for (LossType type : LossType.values()) {
			this.losses.put(type, byReason.withTag("reason", tagOf(type)));
		}
	}

	private static String tagOf(LossType type) {
		return type.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	void record(LockEvent event) {
		if (event instanceof LockEvent.Acquired ofLock) {
			this.acquired.record(ofLock.waited());
		}
		else if (event instanceof LockEvent.Released ofLock) {
			this.released.record(ofLock.held());
			this.remaining.record(ofLock.remaining());
		}
		else if (event instanceof LockEvent.Lost ofLock) {
			this.lost.record(ofLock.held());
			Objects.requireNonNull(this.losses.get(ofLock.type())).increment();
		}
		else if (event instanceof LockEvent.Busy ofLock) {
			this.busy.record(ofLock.waited());
		}
		else if (event instanceof LockEvent.StoreFailed ofLock) {
			this.failed.record(ofLock.waited());
			(ofLock.failOpen() ? this.failedOpen : this.failedClosed).increment();
		}
		else if (event instanceof LockEvent.Renewed) {
			this.renewed.increment();
		}
		else if (event instanceof LockEvent.RenewalFailed) {
			this.notRenewed.increment();
		}
	}

}
