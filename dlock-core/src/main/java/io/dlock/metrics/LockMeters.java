package io.dlock.metrics;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

import io.dlock.LockEvent;
import io.dlock.LockListener;
import io.dlock.console.LockCount;

/**
 * Meters of what happens to locks. They are tagged by the name of the lock (the
 * {@code name} of the annotation, or else {@code Class.method}; without annotations that
 * of the {@link io.dlock.LockRequest}), and never by its key.
 * <table>
 * <caption>Meters</caption>
 * <tr>
 * <th>name</th>
 * <th>type</th>
 * <th>tags</th>
 * <th>what</th>
 * </tr>
 * <tr>
 * <td>{@code dlock.wait}</td>
 * <td>timer</td>
 * <td>{@code name}, {@code outcome}: {@code acquired}, {@code busy}, {@code failed}</td>
 * <td>from the request to the lock or its refusal</td>
 * </tr>
 * <tr>
 * <td>{@code dlock.hold}</td>
 * <td>timer</td>
 * <td>{@code name}, {@code outcome}: {@code released}, {@code lost}</td>
 * <td>from the lock to its release or loss</td>
 * </tr>
 * <tr>
 * <td>{@code dlock.remaining}</td>
 * <td>timer</td>
 * <td>{@code name}</td>
 * <td>how much longer a lock would have been valid when it was released, with buckets
 * from 100 ms to 10 s</td>
 * </tr>
 * <tr>
 * <td>{@code dlock.renewals}</td>
 * <td>counter</td>
 * <td>{@code name}, {@code outcome}: {@code renewed}, {@code failed}</td>
 * <td>renewals, and those that got no answer</td>
 * </tr>
 * <tr>
 * <td>{@code dlock.lost}</td>
 * <td>counter</td>
 * <td>{@code name}, {@code reason}: {@code expired}, {@code refused}, {@code forced},
 * {@code max-hold}, {@code shutdown}</td>
 * <td>locks that were lost while they were held, by {@link io.dlock.LossType}</td>
 * </tr>
 * <tr>
 * <td>{@code dlock.store.failures}</td>
 * <td>counter</td>
 * <td>{@code name}, {@code fail.open}: {@code true}, {@code false}</td>
 * <td>requests for which the store did not decide; {@code true} if the work was done
 * without the lock</td>
 * </tr>
 * <tr>
 * <td>{@code dlock.held}</td>
 * <td>gauge</td>
 * <td>{@code name}, {@code kind}</td>
 * <td>locks that are held now</td>
 * </tr>
 * <tr>
 * <td>{@code dlock.waiting}</td>
 * <td>gauge</td>
 * <td>{@code name}, {@code kind}</td>
 * <td>requests that wait now</td>
 * </tr>
 * <tr>
 * <td>{@code dlock.held.longest}</td>
 * <td>gauge, in seconds</td>
 * <td>{@code name}, {@code kind}</td>
 * <td>how long the longest hold has lasted that has not ended</td>
 * </tr>
 * <tr>
 * <td>{@code dlock.quarantine}</td>
 * <td>gauge, in seconds</td>
 * <td>none</td>
 * <td>how long the store grants no lock after a failover, as far as this process knows; 0
 * if it does</td>
 * </tr>
 * </table>
 * The {@code kind} is {@code exclusive}, {@code shared} or {@code permit}, see
 * {@link io.dlock.console.LockKind}.
 * <p>
 * The meters of a name are there from its first event on, all of them and with zeros, so
 * that the first loss is seen as an increase. A lock without a name has the name
 * {@value #NO_NAME}. More than {@value #MAX_NAMES} names mean that keys are used as
 * names: the rest is counted as {@value #OTHER_NAMES}, and logged as a warning once. The
 * gauges with the name {@value #OTHER_NAMES} also count what waits under names without an
 * event so far, so that the sum over all names is complete.
 * <p>
 * In a Spring Boot application there is one such bean if there is a
 * {@link MeterRegistry}. Without: <pre class="code">
 * LockMeters meters = new LockMeters(registry.counts()::byName, registry.counts()::quarantine);
 * meters.bindTo(meterRegistry);
 * registry.addListener(meters);
 * </pre> An exception of a meter registry is logged, as that of any listener.
 *
 * @since 0.1
 */
public final class LockMeters implements LockListener, MeterBinder {

	/**
	 * The name of a lock without one.
	 */
	public static final String NO_NAME = LockCountsByName.NO_NAME;

	/**
	 * The name for all names beyond {@link #MAX_NAMES}.
	 */
	public static final String OTHER_NAMES = LockCountsByName.OTHER_NAMES;

	/**
	 * The number of names that have meters of their own.
	 */
	public static final int MAX_NAMES = RegistryMeters.MAX_NAMES;

	private final List<NamedGauge> gauges;

	private final Supplier<Duration> quarantine;

	private final List<RegistryMeters> bound = new CopyOnWriteArrayList<>();

	/**
	 * Create meters, to be bound to a meter registry and added to a lock registry.
	 * @param counts the locks that are held and the requests that wait now, by name and
	 * kind
	 */
	public LockMeters(Supplier<Collection<LockCount>> counts) {
		this(counts, () -> Duration.ZERO);
	}

	/**
	 * Create meters for a store that may be in quarantine.
	 * @param counts the locks that are held and the requests that wait now, by name and
	 * kind
	 * @param quarantine how long the store grants no lock
	 */
	public LockMeters(Supplier<Collection<LockCount>> counts, Supplier<Duration> quarantine) {
		this.quarantine = quarantine;
		LockCountsByName named = new LockCountsByName(counts);
		this.gauges = List.of(
				new NamedGauge("dlock.held", "Locks that this process holds", null, named, LockCount::held),
				new NamedGauge("dlock.waiting", "Requests of this process that wait for a lock", null, named,
						LockCount::waiting),
				new NamedGauge("dlock.held.longest", "How long the longest hold of this process has lasted", "seconds",
						named, (count) -> count.longestHold().toNanos() / 1e9));
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("dlock.quarantine", this.quarantine, (rest) -> rest.get().toNanos() / 1e9)
			.description("How long the store grants no lock after a failover")
			.baseUnit("seconds")
			.register(registry);
		this.bound.add(new RegistryMeters(registry, this.gauges));
	}

	@Override
	public void onEvent(LockEvent event) {
		RuntimeException failure = null;
		for (RegistryMeters meters : this.bound) {
			try {
				meters.of(event.name()).record(event);
			}
			catch (RuntimeException ex) {
				// a failing registry must not keep the event from the others
				failure = ex;
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

}
