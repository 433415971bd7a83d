package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

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
class RenewalBatchTests extends AbstractHandOffTests {

	private final CountDownLatch blocking = new CountDownLatch(1);

	private LockHandle acquire(String key, Duration lease) {
		return this.registry.acquire(LockRequest.builder(key).lease(lease).build());
	}

	private List<LockHandle> acquire(String name, int many, Duration lease) {
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < many; i++) {
			handles.add(acquire(name + "-" + i, lease));
		}
		return handles;
	}

	/** The rest of a lease that was renewed that long ago. */
	private static Duration left(Duration lease, Duration age) {
		return lease.minus(lease.dividedBy(100)).minusMillis(2).minus(age);
	}

	/**
	 * Acquire a lock whose renewal holds up all others until the latch opens.
	 */
	private LockHandle holdUpRenewals() {
		LockHandle first = acquire("first", Duration.ofMinutes(1));
		CountDownLatch renewing = new CountDownLatch(1);
		this.store.beforeRenew = () -> {
			renewing.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(this.blocking);
		};
		this.clock.pass(Duration.ofSeconds(20));
		lookAfterLeases(this.registry);
		AbstractLeaseLockRegistryTests.awaitQuietly(renewing);
		this.store.renewedTogether.clear();
		return first;
	}

	private void awaitDue(int many) {
		lookAfterLeases(this.registry);
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return LeaseInternals.due(this.registry.renewer()) == many;
		});
	}

	/**
	 * A lease of 800 milliseconds was lost beside 60,000 of 12 seconds, and of 100,000
	 * leases that the store had renewed 61,000 were declared lost.
	 */
	@Test
	void r5LeasesThatEndFirstAreRenewedFirst() {
		LockHandle first = holdUpRenewals();
		List<LockHandle> others = acquire("other", 2500, Duration.ofSeconds(12));
		this.clock.pass(Duration.ofSeconds(2));
		LockHandle earliest = acquire("earliest", Duration.ofSeconds(6));
		this.clock.pass(Duration.ofMillis(2500));
		awaitDue(2501);
		LockHandle urgent = acquire("urgent", Duration.ofSeconds(3));
		List<Duration> noted = new ArrayList<>();
		this.store.beforeRenew = () -> {
			if (this.store.renewedTogether.size() == 1) {
				this.clock.pass(Duration.ofSeconds(1));
				awaitDue(1502);
			}
			noted.add(earliest.remaining());
			this.clock.pass(Duration.ofMillis(100));
		};
		this.blocking.countDown();
		Awaitility.await().until(() -> this.store.renewals.get() == 2503 && others.stream().allMatch(this::isRenewed));
		assertThat(this.store.renewedTogether).extracting(List::size).containsExactly(1000, 1000, 502);
		assertThat(this.store.renewedTogether).extracting((keys) -> keys.get(0)).startsWith("earliest", "urgent");
		assertThat(noted.get(1)).as("noted before the next call").isEqualTo(left(Duration.ofSeconds(6), millis(1100)));
		assertThat(earliest.remaining()).isEqualTo(left(Duration.ofSeconds(6), millis(1300)));
		assertThat(urgent.remaining()).isEqualTo(left(Duration.ofSeconds(3), millis(200)));
		assertThat(
				others.stream().filter((other) -> other.remaining().equals(left(Duration.ofSeconds(12), millis(100)))))
			.hasSize(502);
		others.forEach(LockHandle::release);
		List.of(first, earliest, urgent).forEach(LockHandle::release);
	}

	private static Duration millis(long millis) {
		return Duration.ofMillis(millis);
	}

	private boolean isRenewed(LockHandle handle) {
		return handle.remaining().compareTo(Duration.ofSeconds(8)) > 0;
	}

	/**
	 * Every call takes its whole timeout, because some of its keys are on a node that is
	 * down.
	 */
	@Test
	void failedNodeCostsOtherLeasesNothing() {
		LockHandle first = holdUpRenewals();
		List<LockHandle> others = acquire("other", 12_000, Duration.ofSeconds(12));
		this.clock.pass(Duration.ofMillis(4500));
		awaitDue(12_000);
		this.store.unreachable = (key) -> key.endsWith("0");
		this.store.beforeRenew = () -> {
			// the timer goes on with those of the node that is down
			if (this.store.renewedTogether.size() <= 3) {
				this.clock.pass(Duration.ofSeconds(1));
			}
		};
		this.blocking.countDown();
		Awaitility.await().until(() -> others.stream().filter(this::isRenewed).count() >= 10_800);
		assertThat(this.store.renewedTogether.stream().limit(2)).extracting(List::size).containsExactly(1000, 10_000);
		this.store.unreachable = (key) -> false;
		this.store.beforeRenew = () -> {
		};
		others.forEach(LockHandle::release);
		first.release();
	}

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
	 * A slow database answered no call for a thousand leases in time, and none of them
	 * was renewed.
	 */
	@Test
	void r5StoreThatIsTooSlowForManyRenewsFew() {
		LockHandle first = holdUpRenewals();
		List<LockHandle> others = acquire("other", 2500, Duration.ofSeconds(12));
		this.clock.pass(Duration.ofMillis(4500));
		awaitDue(2500);
		this.store.beforeRenew = () -> {
			boolean slow = this.store.renewedTogether.stream().reduce((one, last) -> last).orElseThrow().size() > 300;
			this.store.renewalsAreNotSent = slow;
			this.clock.pass(slow ? millis(100) : millis(10));
		};
		this.blocking.countDown();
		for (int i = 0; i < 40; i++) {
			this.clock.pass(millis(250));
			CountDownLatch looked = new CountDownLatch(1);
			lookAfterLeases(this.registry);
			this.registry.threads().schedule(looked::countDown, 0);
			AbstractLeaseLockRegistryTests.awaitQuietly(looked);
			awaitRenewals();
		}
		assertThat(others).allMatch(LockHandle::isValid);
		this.store.beforeRenew = () -> this.store.renewalsAreNotSent = false;
		others.forEach(LockHandle::release);
		first.release();
	}

	private void awaitRenewals() {
		CountDownLatch done = new CountDownLatch(1);
		this.registry.threads().renewal(done::countDown);
		AbstractLeaseLockRegistryTests.awaitQuietly(done);
	}

	@Test
	void unansweredCallCostsOtherLeasesNothing() {
		LockHandle first = holdUpRenewals();
		List<LockHandle> lost = acquire("lost", 1000, Duration.ofSeconds(12));
		this.clock.pass(millis(1));
		List<LockHandle> others = acquire("other", 1000, Duration.ofSeconds(12));
		this.clock.pass(Duration.ofMillis(4500));
		awaitDue(2000);
		this.store.unreachable = (key) -> key.startsWith("lost");
		this.blocking.countDown();
		Awaitility.await().until(() -> others.stream().allMatch(this::isRenewed));
		assertThat(lost).noneMatch(this::isRenewed).allMatch(LockHandle::isValid);
		assertThat(this.store.renewedTogether).extracting(List::size).startsWith(1000, 100, 200, 400);
		this.store.unreachable = (key) -> false;
		lost.forEach(LockHandle::release);
		others.forEach(LockHandle::release);
		first.release();
	}

	/**
	 * Every second call without an answer in a row is a large one.
	 */
	@Test
	void r5CallsStaySmallIfAnAnswerComesBetweenTwoWithoutOne() {
		LockHandle first = holdUpRenewals();
		List<LockHandle> handles = new ArrayList<>();
		handles.addAll(acquire("lost", 1000, Duration.ofSeconds(12)));
		this.clock.pass(millis(1));
		handles.addAll(acquire("other", 100, Duration.ofSeconds(12)));
		this.clock.pass(millis(1));
		handles.addAll(acquire("lost-too", 200, Duration.ofSeconds(12)));
		this.clock.pass(millis(1));
		handles.addAll(acquire("last", 100, Duration.ofSeconds(12)));
		this.clock.pass(Duration.ofMillis(4500));
		awaitDue(1400);
		this.store.unreachable = (key) -> key.startsWith("lost");
		this.blocking.countDown();
		Awaitility.await().until(() -> handles.subList(1300, 1400).stream().allMatch(this::isRenewed));
		assertThat(this.store.renewedTogether).extracting(List::size).startsWith(1000, 100, 200, 20, 40);
		this.store.unreachable = (key) -> false;
		handles.forEach(LockHandle::release);
		first.release();
	}

	/**
	 * Each call with some answers makes the next one ten times as large.
	 */
	@Test
	void r5LeaseIsRenewedHoweverOftenOthersGetNoAnswer() {
		LockHandle up = acquire("up", Duration.ofSeconds(12));
		for (int i = 0; i < 12; i++) {
			CountDownLatch due = new CountDownLatch(1);
			blockRenewals(due);
			LockHandle down = acquire("down", Duration.ofSeconds(12));
			this.store.unreachable = (key) -> key.equals("down");
			this.clock.pass(Duration.ofMillis(4500));
			awaitDue(2);
			due.countDown();
			awaitRenewals();
			assertThat(isRenewed(up)).as("call " + i).isTrue();
			this.store.unreachable = (key) -> false;
			down.release();
		}
		up.release();
	}

	/**
	 * A node of a cluster did not answer for the leases that ended first, and the calls
	 * for them became so small that other leases were lost behind them.
	 */
	@Test
	void r5FewCallsPassTheLeasesThatGetNoAnswer() {
		LockHandle first = holdUpRenewals();
		List<LockHandle> lost = acquire("lost", 2000, Duration.ofSeconds(12));
		this.clock.pass(millis(1));
		List<LockHandle> others = acquire("other", 500, Duration.ofSeconds(12));
		this.clock.pass(Duration.ofMillis(4500));
		awaitDue(2500);
		this.store.unreachable = (key) -> key.startsWith("lost");
		this.blocking.countDown();
		Awaitility.await().until(() -> others.stream().allMatch(this::isRenewed));
		assertThat(this.store.renewedTogether).extracting(List::size).startsWith(1000, 100, 1000);
		this.store.unreachable = (key) -> false;
		lost.forEach(LockHandle::release);
		others.forEach(LockHandle::release);
		first.release();
	}

	/**
	 * Both leases wait for the next call, and the one without an answer ends first.
	 */
	@Test
	void r5LeaseWithoutAnAnswerComesAfterTheOthers() {
		LockHandle unanswered = acquire("unanswered", Duration.ofSeconds(12));
		this.clock.pass(Duration.ofSeconds(1));
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

	/**
	 * Keep the thread of the renewals busy until the latch opens, when it has noted the
	 * answers to those before.
	 */
	private void blockRenewals(CountDownLatch end) {
		CountDownLatch blocked = new CountDownLatch(1);
		this.registry.threads().renewal(() -> {
			blocked.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(end);
		});
		AbstractLeaseLockRegistryTests.awaitQuietly(blocked);
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
		Awaitility.await().until(() -> this.registry.revoker().size() == 0);
		assertThat(this.store.memory.find("key")).isEmpty();
	}

}
