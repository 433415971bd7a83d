package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Permits on a clock that a test turns. The tests count the permits that are taken.
 */
class PermitClockTests extends AbstractHandOffTests {

	private static final int LIMIT = 5;

	private final LockRequest once = LockRequest.builder("key").waitTime(Duration.ZERO).build();

	private final AtomicInteger taken = new AtomicInteger();

	/** Another process, whose clock is not turned. */
	private final LeaseLockRegistry other = new LeaseLockRegistry(this.store.memory, this.settings);

	@AfterEach
	void nothingIsLeftOfTheOther() {
		this.other.close();
		assertThat(this.store.memory.list(10).locks()).as("permits in the store").isEmpty();
	}

	private List<LockHandle> take(LeaseLockRegistry process, int most) {
		List<LockHandle> permits = new ArrayList<>();
		Optional<LockHandle> next = Optional.empty();
		do {
			next = process.tryAcquirePermit(this.once, LIMIT);
			next.ifPresent(permits::add);
			assertThat(this.taken.addAndGet(next.isPresent() ? 1 : 0)).isLessThanOrEqualTo(LIMIT);
		}
		while (next.isPresent() && permits.size() < most);
		return permits;
	}

	/**
	 * Take all permits that are left, of which no process has lost any.
	 */
	private List<LockHandle> takeAll(LeaseLockRegistry process) {
		List<LockHandle> permits = take(process, LIMIT + 1);
		assertThat(this.taken).hasValue(LIMIT);
		return permits;
	}

	private void release(List<LockHandle> permits) {
		permits.forEach(LockHandle::release);
		this.taken.addAndGet(-permits.size());
	}

	private static void releaseLost(List<LockHandle> permits) {
		permits.forEach((permit) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(permit::release));
	}

	@Test
	void permitThatIsPassedOnAtTheEndOfTheWaitIsNotBusy() {
		Duration wait = Duration.ofMillis(100);
		AtomicReference<LockHandle> held = new AtomicReference<>(
				this.registry.acquirePermitAsync(LockRequest.of("key"), 1).join());
		this.store.afterAcquire = () -> {
			LockHandle handle = held.getAndSet(null);
			if (handle != null) {
				handle.release();
				this.clock.pass(wait);
			}
		};
		this.registry.acquirePermit(LockRequest.builder("key").waitTime(wait).build(), 1).release();
	}

	/** Counters lose permits with a crash in Redisson (issues 2045, 2213, 4462). */
	@Test
	void permitsOfADeadProcessAreTakenUntilTheirLeasesEnd() {
		for (int cycle = 0; cycle < 20; cycle++) {
			TroubledStore cut = new TroubledStore(this.store.memory);
			try (LeaseLockRegistry dying = new LeaseLockRegistry(cut, this.settings, this.clock)) {
				List<LockHandle> dead = take(dying, 1 + cycle % LIMIT);
				cut.down = true;
				release(takeAll(this.registry));
				this.clock.pass(LEASE.minusMillis(1));
				release(takeAll(this.registry));
				this.clock.pass(Duration.ofMillis(1));
				this.taken.addAndGet(-dead.size());
				List<LockHandle> all = takeAll(this.registry);
				cut.down = false;
				releaseLost(dead);
				assertThat(take(this.registry, 1)).as("after the late releases").isEmpty();
				release(all);
			}
		}
	}

	/** Permits expire by the clock of the client in Redisson. */
	@Test
	void clockOfAProcessThatIsSetBackAddsNoPermit() {
		List<LockHandle> permits = takeAll(this.registry);
		this.clock.stepWall(Duration.ofHours(-1));
		assertThat(permits).allMatch(LockHandle::isValid);
		assertThat(take(this.other, 1)).isEmpty();
		this.clock.pass(LEASE);
		this.taken.addAndGet(-(int) permits.stream().filter((permit) -> !permit.isValid()).count());
		List<LockHandle> next = takeAll(this.other);
		releaseLost(permits);
		release(next);
	}

	@Test
	void clockOfAProcessThatIsSetForwardFreesNoPermit() {
		List<LockHandle> permits = takeAll(this.registry);
		this.clock.stepWall(Duration.ofHours(1));
		assertThat(permits).noneMatch(LockHandle::isValid);
		assertThat(take(this.other, 1)).isEmpty();
		releaseLost(permits);
		this.taken.addAndGet(-permits.size());
		release(takeAll(this.other));
	}

	/** The clock of the store stands still, so that the lease does not end. */
	@Test
	void permitStaysTakenForItsMinHold() {
		Duration minHold = Duration.ofMillis(400);
		long start = System.nanoTime();
		this.registry.acquirePermit(LockRequest.builder("key").minHold(minHold).build(), 1).release();
		Awaitility.await().until(() -> {
			Optional<LockHandle> next = this.registry.tryAcquirePermit(this.once, 1);
			next.ifPresent(LockHandle::release);
			return next.isPresent();
		});
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(minHold.toNanos());
	}

	@Test
	void leaseOfAPermitIsExtendedForItsMinHold() {
		Duration minHold = LEASE.multipliedBy(3);
		this.registry.acquirePermit(LockRequest.builder("key").minHold(minHold).build(), 1).release();
		this.clock.pass(minHold.minusMillis(1));
		assertThat(this.registry.tryAcquirePermit(this.once, 1)).isEmpty();
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(this.registry.tryAcquirePermit(this.once, 1)).hasValueSatisfying(LockHandle::release);
	}

}
