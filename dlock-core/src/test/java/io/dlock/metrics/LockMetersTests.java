package io.dlock.metrics;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.LossType;
import io.dlock.console.LockCount;
import io.dlock.console.LockKind;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The meters, their names and tags.
 */
@Timeout(60)
class LockMetersTests {

	private final SimpleMeterRegistry meterRegistry = new SimpleMeterRegistry();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	private final LockMeters meters = new LockMeters(this.registry.counts()::byName);

	@AfterEach
	void close() {
		this.registry.close();
	}

	private void meter() {
		this.meters.bindTo(this.meterRegistry);
		this.registry.addListener(this.meters);
	}

	@Test
	void quarantineIsShownInSeconds() {
		new LockMeters(List::of, () -> Duration.ofMillis(90_500)).bindTo(this.meterRegistry);
		assertThat(this.meterRegistry.get("dlock.quarantine").gauge().value()).isEqualTo(90.5);
	}

	private Timer timer(String name, String... tags) {
		return this.meterRegistry.get(name).tags(tags).timer();
	}

	private double count(String name, String... tags) {
		return this.meterRegistry.get(name).tags(tags).counter().count();
	}

	private double gauge(String name, String lockName) {
		return gauge(name, lockName, "exclusive");
	}

	private double gauge(String name, String lockName, String kind) {
		return this.meterRegistry.get(name).tags("name", lockName, "kind", kind).gauge().value();
	}

	@Test
	void lockCycleIsMeteredByItsName() {
		meter();
		this.registry.acquire(LockRequest.builder("orders:42").name("orders").build()).release();
		assertThat(timer("dlock.wait", "name", "orders", "outcome", "acquired").count()).isOne();
		assertThat(timer("dlock.hold", "name", "orders", "outcome", "released").count()).isOne();
		Timer remaining = timer("dlock.remaining", "name", "orders");
		assertThat(remaining.count()).isOne();
		assertThat(remaining.max(TimeUnit.SECONDS)).isBetween(20.0, 30.0);
	}

	@Test
	void eventsAreMeteredWithTheirDurationsAndOutcomes() {
		meter();
		Duration second = Duration.ofSeconds(1);
		this.meters.onEvent(new LockEvent.Busy("key", "a", null, second, null));
		LockStoreException failure = new LockStoreException("key", "acquire", "", new IllegalStateException());
		this.meters.onEvent(new LockEvent.StoreFailed("key", "a", null, second, failure, false));
		this.meters.onEvent(new LockEvent.StoreFailed("key", "a", null, second, failure, true));
		this.meters.onEvent(new LockEvent.StoreFailed("key", "a", null, second, failure, true));
		this.meters.onEvent(new LockEvent.Renewed("key", "a", null, 1, second, second));
		this.meters.onEvent(new LockEvent.RenewalFailed("key", "a", null, 1, second, second));
		this.meters.onEvent(new LockEvent.Lost("key", "a", null, 1, second, "", LossType.MAX_HOLD));
		assertThat(timer("dlock.wait", "outcome", "busy").totalTime(TimeUnit.SECONDS)).isEqualTo(1);
		assertThat(timer("dlock.wait", "outcome", "failed").totalTime(TimeUnit.SECONDS)).isEqualTo(3);
		assertThat(count("dlock.store.failures", "fail.open", "false")).isOne();
		assertThat(count("dlock.store.failures", "fail.open", "true")).isEqualTo(2);
		assertThat(count("dlock.renewals", "outcome", "renewed")).isOne();
		assertThat(count("dlock.renewals", "outcome", "failed")).isOne();
		assertThat(timer("dlock.hold", "outcome", "lost").totalTime(TimeUnit.SECONDS)).isEqualTo(1);
		assertThat(count("dlock.lost", "name", "a", "reason", "max-hold")).isOne();
	}

	/**
	 * A counter that appears with its first loss shows no increase.
	 */
	@Test
	void countersExistBeforeFirstFailure() {
		meter();
		this.registry.acquire(LockRequest.builder("key").name("a").build()).release();
		for (String reason : List.of("expired", "refused", "forced", "max-hold", "shutdown")) {
			assertThat(count("dlock.lost", "name", "a", "reason", reason)).as(reason).isZero();
		}
		assertThat(count("dlock.store.failures", "name", "a", "fail.open", "true")).isZero();
		assertThat(count("dlock.renewals", "name", "a", "outcome", "failed")).isZero();
	}

	@Test
	void tenThousandKeysDoNotGrowTheNumberOfMeters() {
		meter();
		this.registry.acquire(LockRequest.builder("key").name("a").build()).release();
		int before = this.meterRegistry.getMeters().size();
		for (int i = 0; i < 10_000; i++) {
			this.registry.acquire(LockRequest.builder("key-" + i).reason("reason-" + i).name("a").build()).release();
		}
		assertThat(this.meterRegistry.getMeters()).hasSize(before);
		assertThat(timer("dlock.wait", "name", "a", "outcome", "acquired").count()).isEqualTo(10_001);
		assertThat(this.meterRegistry.getMeters()).flatExtracting((meter) -> meter.getId().getTags())
			.extracting(Tag::getValue)
			.noneMatch((value) -> value.contains("key-"));
	}

	@Test
	void lockWithoutANameHasTheNameNone() {
		meter();
		this.registry.acquire("key").release();
		assertThat(timer("dlock.wait", "name", "none", "outcome", "acquired").count()).isOne();
	}

	@Test
	void excessNamesAreMeteredAsOtherAndLoggedOnce() {
		try (CapturedLog log = CapturedLog.of(RegistryMeters.class)) {
			meter();
			for (int i = 0; i < LockMeters.MAX_NAMES + 100; i++) {
				this.registry.acquire(LockRequest.builder("key").name("name-" + i).build()).release();
			}
			assertThat(log.events()).singleElement().satisfies((event) -> {
				assertThat(event.getLevel()).isEqualTo(Level.WARN);
				assertThat(event.getFormattedMessage()).contains("name-1000");
			});
		}
		assertThat(timer("dlock.wait", "name", "other", "outcome", "acquired").count()).isEqualTo(100);
		assertThat(this.meterRegistry.find("dlock.remaining").timers()).hasSize(LockMeters.MAX_NAMES + 1);
	}

	@Test
	void gaugesShowHeldAndWaitingLocks() {
		meter();
		assertThat(sum("dlock.held")).isZero();
		LockHandle held = this.registry.acquireAsync(named("key", "a")).join();
		LockHandle second = this.registry.acquireAsync(named("second", "a")).join();
		LockHandle nameless = this.registry.acquireAsync(LockRequest.of("nameless")).join();
		CompletableFuture<LockHandle> waiting = this.registry.acquireAsync(named("key", "a"));
		assertThat(gauge("dlock.held", "a")).isEqualTo(2);
		assertThat(gauge("dlock.held", "none")).isOne();
		assertThat(sum("dlock.held")).isEqualTo(3);
		Awaitility.await().untilAsserted(() -> assertThat(gauge("dlock.waiting", "a")).isOne());
		assertThat(sum("dlock.waiting")).isOne();
		second.release();
		nameless.release();
		held.release();
		waiting.join().release();
		assertThat(sum("dlock.held")).isZero();
		assertThat(sum("dlock.waiting")).isZero();
	}

	private static LockRequest named(String key, String name) {
		return LockRequest.builder(key).name(name).build();
	}

	private double sum(String name) {
		return this.meterRegistry.get(name).gauges().stream().mapToDouble(Gauge::value).sum();
	}

	/**
	 * The timer of holds knows those that have ended.
	 */
	@Test
	void longestHoldIsSeenWhileItLasts() {
		meter();
		LockHandle first = this.registry.acquireAsync(named("key", "a")).join();
		LockHandle second = this.registry.acquireAsync(named("second", "a")).join();
		LockHandle other = this.registry.acquireAsync(named("other", "b")).join();
		Awaitility.await().until(() -> gauge("dlock.held.longest", "a") > 0.05);
		assertThat(gauge("dlock.held.longest", "b")).isBetween(0.0, gauge("dlock.held.longest", "a"));
		assertThat(gauge("dlock.held.longest", "other")).isZero();
		assertThat(this.meterRegistry.get("dlock.held.longest").gauge().getId().getBaseUnit()).isEqualTo("seconds");
		assertThat(this.meterRegistry.find("dlock.hold").timers())
			.allSatisfy((hold) -> assertThat(hold.count()).isZero());
		first.release();
		second.release();
		other.release();
		Awaitility.await().untilAsserted(() -> assertThat(sum("dlock.held.longest")).isZero());
	}

	@Test
	void gaugesTellTheKindsOfLocksApart() {
		meter();
		List<LockHandle> handles = List.of(this.registry.acquireAsync(named("key", "a")).join(),
				this.registry.acquireAsync(LockRequest.builder("read").name("a").mode(LockMode.SHARED).build()).join(),
				this.registry.acquireAsync(LockRequest.builder("read").name("a").mode(LockMode.SHARED).build()).join(),
				this.registry.acquirePermitAsync(named("permit", "b"), 1).join());
		CompletableFuture<LockHandle> waiting = this.registry.acquirePermitAsync(named("permit", "b"), 1);
		assertThat(gauge("dlock.held", "a", "exclusive")).isOne();
		assertThat(gauge("dlock.held", "a", "shared")).isEqualTo(2);
		assertThat(gauge("dlock.held", "a", "permit")).isZero();
		assertThat(gauge("dlock.held", "b", "permit")).isOne();
		assertThat(gauge("dlock.held.longest", "a", "shared")).isPositive();
		assertThat(gauge("dlock.held.longest", "b", "permit")).isPositive();
		assertThat(gauge("dlock.held.longest", "b", "exclusive")).isZero();
		Awaitility.await().untilAsserted(() -> assertThat(gauge("dlock.waiting", "b", "permit")).isOne());
		assertThat(gauge("dlock.waiting", "b", "exclusive")).isZero();
		handles.forEach(LockHandle::release);
		waiting.join().release();
	}

	private static LockCount count(String name, int held, Duration longestHold) {
		return new LockCount(name, LockKind.EXCLUSIVE, held, 0, longestHold);
	}

	@Test
	void longestHoldOfOtherNamesIsTheirMaximum() {
		LockMeters counting = new LockMeters(() -> List.of(count("a", 1, Duration.ofSeconds(3)),
				count("b", 1, Duration.ofMillis(1500)), count("c", 1, Duration.ofSeconds(1))));
		counting.bindTo(this.meterRegistry);
		assertThat(gauge("dlock.held.longest", "other")).isEqualTo(3);
		counting.onEvent(new LockEvent.Busy("key", "a", null, Duration.ZERO, null));
		assertThat(gauge("dlock.held.longest", "a")).isEqualTo(3);
		assertThat(gauge("dlock.held.longest", "other")).isEqualTo(1.5);
	}

	/**
	 * A name has meters from its first event on. Until then its waiting requests are
	 * counted among the others.
	 */
	@Test
	void nameWithoutAnEventIsCountedAmongTheOthers() {
		meter();
		LockHandle held = this.registry.acquireAsync(named("key", "a")).join();
		CompletableFuture<LockHandle> waiting = this.registry.acquireAsync(named("key", "b"));
		Awaitility.await().untilAsserted(() -> assertThat(gauge("dlock.waiting", "other")).isOne());
		assertThat(gauge("dlock.waiting", "a")).isZero();
		held.release();
		waiting.join();
		assertThat(gauge("dlock.held", "b")).isOne();
		assertThat(gauge("dlock.held", "other")).isZero();
		waiting.join().release();
	}

	@Test
	void gaugesOfExcessNamesAreSummed() {
		LockMeters counting = new LockMeters(
				() -> Stream.of("", "none", "other", "a", "b").map((name) -> count(name, 1, Duration.ZERO)).toList());
		counting.bindTo(this.meterRegistry);
		assertThat(gauge("dlock.held", "other")).isEqualTo(5);
		for (int i = 0; i < LockMeters.MAX_NAMES - 2; i++) {
			counting.onEvent(new LockEvent.Busy("key", "name-" + i, null, Duration.ZERO, null));
		}
		for (String name : new String[] { null, "a", "b", "other" }) {
			counting.onEvent(new LockEvent.Busy("key", name, null, Duration.ZERO, null));
		}
		assertThat(gauge("dlock.held", "none")).isEqualTo(2);
		assertThat(gauge("dlock.held", "a")).isOne();
		assertThat(gauge("dlock.held", "other")).as("other and b").isEqualTo(2);
		assertThat(sum("dlock.held")).isEqualTo(5);
		assertThat(this.meterRegistry.get("dlock.held").gauges())
			.hasSize((LockMeters.MAX_NAMES + 1) * LockKind.values().length);
	}

	/**
	 * Reading a thousand gauges does not look a thousand times at ten thousand locks.
	 */
	@Test
	void locksAreCountedOnceForGaugesReadTogether() {
		AtomicInteger counted = new AtomicInteger();
		LockMeters counting = new LockMeters(() -> {
			counted.incrementAndGet();
			return List.of(count("a", 100_000_000, Duration.ofSeconds(1)), count("b", 1, Duration.ofSeconds(2)));
		});
		counting.bindTo(this.meterRegistry);
		counting.onEvent(new LockEvent.Busy("key", "a", null, Duration.ZERO, null));
		counting.onEvent(new LockEvent.Busy("key", "b", null, Duration.ZERO, null));
		assertThat(sum("dlock.held")).isEqualTo(100_000_001);
		assertThat(counted).hasValue(1);
		assertThat(sum("dlock.held.longest")).isEqualTo(3);
		assertThat(counted).hasValue(1);
	}

	@Test
	void severalMeterRegistriesGetTheSame() {
		SimpleMeterRegistry second = new SimpleMeterRegistry();
		this.meters.bindTo(second);
		meter();
		this.registry.acquire("key").release();
		assertThat(second.get("dlock.hold").tag("outcome", "released").timer().count()).isOne();
		assertThat(timer("dlock.hold", "outcome", "released").count()).isOne();
		assertThat(second.getMeters()).extracting(Meter::getId)
			.containsExactlyInAnyOrderElementsOf(this.meterRegistry.getMeters().stream().map(Meter::getId).toList());
	}

	@Test
	void throwingMeterRegistryAffectsNoLockAndIsLoggedOnce() {
		try (CapturedLog log = CapturedLog.of("io.dlock.engine.lease.LockEvents")) {
			this.meters.bindTo(new Throwing());
			meter();
			for (int i = 0; i < 3; i++) {
				try (LockHandle handle = this.registry.acquire("key")) {
					assertThat(handle.isValid()).isTrue();
				}
			}
			assertThat(this.registry.counts().held()).isZero();
			assertThat(this.registry.find("key")).isEmpty();
			assertThat(log.events()).filteredOn((event) -> event.getLevel() == Level.WARN)
				.singleElement()
				.satisfies((event) -> assertThat(event.getFormattedMessage()).contains(LockMeters.class.getName()));
		}
		assertThat(timer("dlock.hold", "outcome", "released").count()).as("in another meter registry").isEqualTo(3);
	}

	private static final class Throwing extends SimpleMeterRegistry {

		@Override
		protected Timer newTimer(Meter.Id id, DistributionStatisticConfig config, PauseDetector pauseDetector) {
			throw new IllegalStateException("of the meter registry");
		}

	}

}
