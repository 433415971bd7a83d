package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How many leases are renewed in one call.
 */
class RenewalBatchSizeTests extends AbstractRenewalBatchTests {

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

}
