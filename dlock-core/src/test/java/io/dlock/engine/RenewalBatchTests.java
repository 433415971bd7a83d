package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.console.LockCount;
import io.dlock.engine.lease.LeaseInternals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Many leases are renewed together.
 */
class RenewalBatchTests extends AbstractRenewalBatchTests {

	/**
	 * The wall clock is set forward and back between two checks of the timer.
	 */
	@Test
	void r3LeaseThatSeemsOverBeforeItsRenewalIsRenewedLater() {
		LockHandle first = holdUpRenewals();
		LockHandle handle = acquire("key", Duration.ofSeconds(12));
		this.clock.pass(millis(4500));
		awaitDue(1);
		CountDownLatch timerBlocked = new CountDownLatch(1);
		CountDownLatch looked = new CountDownLatch(1);
		this.registry.threads().schedule(() -> {
			timerBlocked.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(looked);
		}, 0);
		AbstractLeaseLockRegistryTests.awaitQuietly(timerBlocked);
		this.clock.stepWall(Duration.ofHours(1));
		this.blocking.countDown();
		awaitRenewals();
		this.clock.stepWall(Duration.ofHours(-1));
		looked.countDown();
		this.clock.pass(Duration.ofSeconds(1));
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return isRenewed(handle);
		});
		handle.release();
		first.release();
	}

	/**
	 * The timer looks at the leases ten times a second. If each were renewed as early as
	 * it may be, there would be more renewals, each in a call of its own.
	 */
	@Test
	void leaseIsRenewedEarlyOnlyTogetherWithOneThatIsDue() {
		LockHandle first = acquire("first", Duration.ofSeconds(12));
		this.clock.pass(millis(500));
		LockHandle second = acquire("second", Duration.ofSeconds(12));
		this.clock.pass(millis(3400));
		lookAfterLeases(this.registry);
		awaitRenewals();
		assertThat(this.store.renewedTogether).isEmpty();
		this.clock.pass(millis(100));
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return isRenewed(first) && isRenewed(second);
		});
		assertThat(this.store.renewedTogether.stream().flatMap(List::stream)).containsExactlyInAnyOrder("first",
				"second");
		first.release();
		second.release();
	}

	@Test
	void checkOfALeaseDoesNotLookAtThoseThatAreDueLater() {
		List<LockHandle> longer = acquire("longer", 1000, Duration.ofMinutes(10));
		LockHandle brief = acquire("brief", Duration.ofSeconds(12));
		LeaseInternals.checkLeases(this.registry.renewer());
		this.clock.pass(Duration.ofSeconds(4));
		AtomicInteger readings = new AtomicInteger();
		Thread timer = Thread.currentThread();
		this.clock.onReading = () -> {
			if (Thread.currentThread() == timer) {
				readings.incrementAndGet();
			}
		};
		LeaseInternals.checkLeases(this.registry.renewer());
		assertThat(readings).hasValueLessThan(100);
		Awaitility.await().until(() -> isRenewed(brief));
		assertThat(this.store.renewedTogether).containsExactly(List.of("brief"));
		brief.release();
		longer.forEach(LockHandle::release);
	}

	/**
	 * Both leases wait for the next call, and the one without an answer ends first.
	 */
	@Test
	void r5LeaseWithoutAnAnswerComesAfterTheOthers() {
		LockHandle unanswered = acquire("unanswered", Duration.ofSeconds(12));
		this.clock.pass(Duration.ofSeconds(2));
		LockHandle other = acquire("other", Duration.ofSeconds(12));
		this.store.unreachable = (key) -> key.equals("unanswered");
		this.clock.pass(Duration.ofMillis(2200));
		lookAfterLeases(this.registry);
		Awaitility.await().until(() -> this.store.renewals.get() > 0);
		blockRenewals(this.blocking);
		this.store.renewedTogether.clear();
		this.clock.pass(Duration.ofMillis(1500));
		awaitDue(2);
		this.blocking.countDown();
		Awaitility.await().until(() -> !this.store.renewedTogether.isEmpty());
		assertThat(this.store.renewedTogether).first().isEqualTo(List.of("other", "unanswered"));
		this.store.unreachable = (key) -> false;
		unanswered.release();
		other.release();
	}

	@Test
	void r5RenewedLeaseComesAtItsNewEnd() {
		LockHandle renewed = acquire("renewed", Duration.ofSeconds(12));
		this.clock.pass(Duration.ofSeconds(3));
		LockHandle younger = acquire("younger", Duration.ofSeconds(12));
		this.clock.pass(Duration.ofSeconds(1));
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return isRenewed(renewed);
		});
		blockRenewals(this.blocking);
		this.store.renewedTogether.clear();
		this.clock.pass(Duration.ofMillis(4500));
		awaitDue(2);
		this.blocking.countDown();
		Awaitility.await().until(() -> !this.store.renewedTogether.isEmpty());
		assertThat(this.store.renewedTogether).first().isEqualTo(List.of("younger", "renewed"));
		renewed.release();
		younger.release();
	}

	@Test
	void leaseReleasedBeforeItsRenewalIsNotRenewed() {
		LockHandle first = holdUpRenewals();
		LockHandle released = acquire("released", Duration.ofSeconds(12));
		LockHandle other = acquire("other", Duration.ofSeconds(12));
		this.clock.pass(Duration.ofMillis(4500));
		awaitDue(2);
		released.release();
		this.blocking.countDown();
		Awaitility.await().until(() -> isRenewed(other));
		assertThat(this.store.renewedTogether).containsExactly(List.of("other"));
		other.release();
		first.release();
	}

	/**
	 * Two rounds of 31 leases each of which gets an answer of its own.
	 */
	@Test
	void r27EachLeaseGetsItsOwnAnswer() {
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < 31; i++) {
			handles.add(acquire("key-" + i, LEASE));
			this.clock.pass(millis(1));
		}
		handles.subList(0, 5).forEach(this::takeAway);
		renewAll(handles.subList(5, 12));
		assertThat(handles.subList(0, 5)).noneMatch(LockHandle::isValid);
		assertThat(handles.subList(5, 12)).allMatch((handle) -> handle.isValid() && handle.remaining().toSeconds() < 7);
		assertThat(handles.subList(12, 31)).allMatch((handle) -> handle.remaining().equals(left(LEASE, Duration.ZERO)));
		handles.subList(8, 12).forEach(this::takeAway);
		handles.subList(28, 31).forEach(this::takeAway);
		renewAll(handles.subList(12, 20));
		assertThat(handles.subList(5, 8)).allMatch((handle) -> handle.remaining().equals(left(LEASE, Duration.ZERO)));
		assertThat(handles.subList(8, 12)).noneMatch(LockHandle::isValid);
		assertThat(handles.subList(12, 20))
			.allMatch((handle) -> handle.isValid() && handle.remaining().toSeconds() < 7);
		assertThat(handles.subList(20, 28)).allMatch((handle) -> handle.remaining().equals(left(LEASE, Duration.ZERO)));
		assertThat(handles.subList(28, 31)).noneMatch(LockHandle::isValid);
		handles.forEach((handle) -> {
			if (handle.isValid()) {
				handle.release();
			}
			else {
				assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
			}
		});
	}

	private void takeAway(LockHandle handle) {
		this.store.memory.release(handle.key(), this.registry.ownerOf(handle).orElseThrow());
	}

	/**
	 * Let all leases become due, and note the answers to all.
	 */
	private void renewAll(List<LockHandle> unreachable) {
		List<String> keys = unreachable.stream().map(LockHandle::key).toList();
		this.store.unreachable = keys::contains;
		this.store.renewedTogether.clear();
		int before = this.store.renewals.get();
		int leases = this.registry.renewer().size();
		this.clock.pass(Duration.ofMillis(3400));
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return this.store.renewals.get() >= before + leases;
		});
		Awaitility.await()
			.until(() -> this.registry.counts().byName().stream().mapToInt(LockCount::held).sum() == this.registry
				.counts()
				.held());
		awaitRenewals();
		assertThat(this.store.renewedTogether).hasSizeGreaterThanOrEqualTo(1);
	}

	/**
	 * No time passes in between.
	 */
	@Test
	void leaseForWhichACallHadNoTimeIsRenewedAtOnce() {
		this.store.renewalsInTime = 2;
		List<LockHandle> handles = acquire("key", 5, Duration.ofSeconds(12));
		this.clock.pass(millis(4100));
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return handles.stream().allMatch(this::isRenewed);
		});
		assertThat(this.store.renewedTogether).extracting(List::size).containsExactly(5, 3, 1);
		handles.forEach(LockHandle::release);
	}

	@Test
	void listenersAreToldHowLongARenewedLockIsHeld() {
		List<LockEvent.Renewed> renewed = new CopyOnWriteArrayList<>();
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Renewed each) {
				renewed.add(each);
			}
		});
		LockHandle handle = acquire("key", Duration.ofSeconds(12));
		this.clock.pass(Duration.ofSeconds(4));
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return !renewed.isEmpty();
		});
		assertThat(renewed.get(0).remaining()).isGreaterThan(Duration.ofSeconds(11));
		handle.release();
	}

	@Test
	void maxHoldIsCheckedBeforeTheNextRenewal() {
		LeaseLockHandle handle = (LeaseLockHandle) this.registry
			.acquire(LockRequest.builder("key").lease(LEASE).maxHold(LEASE.plusSeconds(1)).build());
		for (int i = 0; i < 2; i++) {
			this.clock.pass(Duration.ofSeconds(4));
			Awaitility.await().until(() -> {
				lookAfterLeases(this.registry);
				return LeaseInternals.left(handle.hold().lease()).compareTo(Duration.ofSeconds(9)) > 0;
			});
		}
		assertThat(LeaseInternals.untilDue(handle.hold().lease())).isEqualTo(Duration.ofSeconds(3));
		handle.release();
	}

	/**
	 * The lease in the store ends with its last renewal.
	 */
	@Test
	void r25ReleaseOfRenewedLeaseIsRepeatedUntilTheLeaseIsOver() {
		LockHandle handle = this.registry.acquire(request());
		this.clock.pass(Duration.ofSeconds(4));
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return handle.remaining().compareTo(Duration.ofSeconds(9)) > 0;
		});
		this.store.down = true;
		handle.release();
		this.clock.pass(Duration.ofSeconds(7));
		this.store.down = false;
		long begin = this.clock.nanoTime();
		Awaitility.await().until(() -> {
			// the pause after one that failed
			this.clock.pass(Duration.ofMillis(1));
			return this.registry.revoker().size() == 0;
		});
		assertThat(this.store.memory.find("key")).isEmpty();
		assertThat(Duration.ofNanos(this.clock.nanoTime() - begin)).as("before its lease ends")
			.isLessThan(Duration.ofSeconds(1));
	}

}
