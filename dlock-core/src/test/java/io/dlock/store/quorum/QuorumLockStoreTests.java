package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.ReleaseResult;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.quorum.FaultyNode.Mode;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Renewals and releases by majority while nodes fail.
 */
class QuorumLockStoreTests extends AbstractQuorumTests {

	private static final Duration RELIABLE = LEASE.multipliedBy(99).dividedBy(100).minusMillis(2);

	@Test
	@Timing
	void releaseOfManyLocksTakesOneCommandTimeoutWhicheverNodesHang() throws Exception {
		Duration timeout = Duration.ofSeconds(1);
		AtomicBoolean hang = new AtomicBoolean();
		try (MachineWatch watch = MachineWatch.start();
				QuorumLockStore hanging = new QuorumLockStore(this.nodes, SETTINGS.withCommandTimeout(timeout),
						this.time::get, List.of(), (node) -> (command) -> {
							if (node < 2 || !hang.get()) {
								command.run();
							}
						})) {
			List<ReleaseCommand> releases = Stream.of("x", "y", "z")
				.map((key) -> new ReleaseCommand(key, "a"))
				.toList();
			releases.forEach((each) -> assertThat(hanging.acquire(new AcquireCommand(each.key(), "a", LEASE, "", "")))
				.isInstanceOf(Granted.class));
			hang.set(true);
			assertThat(watch.time(() -> assertThat(hanging.releaseAll(releases)).containsOnly(ReleaseResult.UNKNOWN)))
				.isLessThan(timeout.multipliedBy(3).dividedBy(2));
			assertThat(this.nodes.subList(0, 2)).as("all are sent")
				.allMatch((node) -> node.find("x").isEmpty() && node.find("z").isEmpty());
		}
	}

	@Test
	void locksAreReleasedTogether() {
		Stream.of("x", "y").forEach((key) -> this.store.acquire(new AcquireCommand(key, "a", LEASE, "", "")));
		assertThat(this.store.releaseAll(
				List.of(new ReleaseCommand("x", "a"), new ReleaseCommand("other", "a"), new ReleaseCommand("y", "a"))))
			.containsExactly(ReleaseResult.RELEASED, ReleaseResult.REFUSED, ReleaseResult.RELEASED);
		assertThat(this.store.ballots()).isZero();
	}

	@Test
	void renewalFillsUpANodeThatLacksTheLock() {
		assertThatRenewalFillsUp(new int[] { 0, 1 }, 3, 4);
	}

	/**
	 * The majority is known before these nodes answer.
	 */
	@Test
	void renewalFillsUpTheSlowestNode() {
		assertThatRenewalFillsUp(new int[] { 3, 4 }, 0, 1);
	}

	@Test
	void nodeThatIsFilledUpKnowsTheToken() {
		this.nodes.get(0).acquire(command("setter"));
		this.nodes.get(0).raiseToken("key", "setter", 4_000_000_000_000_000L);
		this.nodes.get(0).release("key", "setter");
		set(Mode.IS_DOWN, 3, 4);
		long token = ((Granted) acquire(this.store, "a")).token();
		set(Mode.WORKS, 3, 4);
		assertThat(renew(this.store, "a")).isEqualTo(RenewResult.RENEWED);
		assertThat(this.store.release("key", "a")).isTrue();
		this.nodes.get(0).restartEmpty();
		set(Mode.IS_DOWN, 1, 2);
		assertThat(((Granted) acquire(store(SETTINGS), "b")).token()).isGreaterThan(token);
	}

	private void assertThatRenewalFillsUp(int[] lacking, int... laterDown) {
		set(Mode.IS_DOWN, lacking);
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		set(Mode.WORKS, lacking);
		assertThat(renew(this.store, "a")).isEqualTo(RenewResult.RENEWED);
		set(Mode.IS_DOWN, laterDown);
		assertThat(renew(this.store, "a")).isEqualTo(RenewResult.RENEWED);
	}

	/**
	 * The answers are lost, and the votes are there.
	 */
	@Test
	void releaseWithoutAnAnswerIsRepeated() {
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		set(Mode.IS_DOWN, 0, 1, 2);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.store.release("key", "a"));
		set(Mode.WORKS, 0, 1, 2);
		assertThat(this.store.release("key", "a")).isTrue();
		set(Mode.IS_DOWN, 3, 4);
		assertThat(acquire(store(SETTINGS), "b")).isInstanceOf(Granted.class);
	}

	/**
	 * Three nodes have granted the lock, and some of them have lost it. The next owner
	 * may have held it meanwhile.
	 */
	@ParameterizedTest
	@CsvSource({ "0, true", "1, false", "2, false" })
	void lockThatOnlyAMinorityHadIsNotReleased(int forgetful, boolean released) {
		set(Mode.IS_DOWN, 3, 4);
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		set(Mode.WORKS, 3, 4);
		this.nodes.subList(0, forgetful).forEach(FaultyNode::restartEmpty);
		assertThat(this.store.release("key", "a")).isEqualTo(released);
		assertThat(this.nodes).allMatch((node) -> node.find("key").isEmpty());
	}

	@Test
	void releaseByForceOfALockThatOnlyAMinorityHasIsRefused() {
		long token = ((Granted) acquire(this.store, "a")).token();
		this.nodes.subList(0, 3).forEach(FaultyNode::restartEmpty);
		assertThat(this.store.inspection().forceRelease("key", token)).isFalse();
	}

	/**
	 * The caller repeats the acquire, or gives up and releases the other lock.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void lockThatIsPassedOnDuringAnOutageIsReleasedAfterIt(boolean repeated) {
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		set(Mode.IS_DOWN, 0, 1, 2);
		AcquireCommand next = new AcquireCommand("key", "b", LEASE, "holder b", "", null, false, "a");
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.store.acquire(next));
		set(Mode.WORKS, 0, 1, 2);
		if (repeated) {
			assertThat(this.store.acquire(next)).isInstanceOf(Granted.class);
			assertThat(this.store.release("key", "b")).isTrue();
		}
		else {
			assertThat(this.store.release("key", "a")).isTrue();
		}
		assertThat(this.store.ballots()).isZero();
		assertThat(acquire(store(SETTINGS), "c")).isInstanceOf(Granted.class);
	}

	/**
	 * The next owner needs four of five votes.
	 */
	@Test
	void releaseIsDoneWhenEnoughNodesForTheNextOwnerHaveAnswered() {
		QuorumSettings careful = SETTINGS.withWrongClocks(1);
		QuorumLockStore carefulStore = store(careful);
		long token = ((Granted) acquire(carefulStore, "a")).token();
		set(Mode.IS_DOWN, 3, 4);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> carefulStore.release("key", "a"))
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
		assertThatExceptionOfType(StoreException.class)
			.isThrownBy(() -> carefulStore.inspection().forceRelease("key", token));
		set(Mode.WORKS, 4);
		carefulStore.release("key", "a");
		assertThat(acquire(store(careful), "b")).isInstanceOf(Granted.class);
	}

	/**
	 * At the limit of threads of the machine.
	 */
	@Test
	void nodeForWhichNoThreadCanBeStartedIsAsOneThatIsDown() {
		QuorumLockStore crowded = new QuorumLockStore(this.nodes, SETTINGS, this.time::get, List.of(),
				(node) -> (command) -> {
					if (node == 2) {
						throw new OutOfMemoryError("unable to create native thread");
					}
					command.run();
				});
		assertThat(acquire(crowded, "a")).isInstanceOf(Granted.class);
		assertThat(crowded.release("key", "a")).isTrue();
		assertThat(this.nodes).allMatch((node) -> node.find("key").isEmpty());
	}

	@Test
	void leaseThatIsOverByTheClockOfTheProcessIsNotReleasedButGivenUp() {
		acquire(this.store, "a");
		pass(LEASE.minusMillis(50));
		assertThat(this.store.release("key", "a")).isFalse();
		assertThat(acquire(this.store, "b")).isInstanceOf(Granted.class);
	}

	@Test
	void renewalWithoutAMajorityIsNotKnown() {
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		set(Mode.IS_DOWN, 0, 1, 2);
		assertThat(renew(this.store, "a")).isEqualTo(RenewResult.UNKNOWN);
	}

	/**
	 * The nodes still have the lock: the clocks may differ by a percent and 2 ms. The
	 * ballots that are over are forgotten once a second, and this one is not yet.
	 */
	@Test
	void r4LeaseIsNotRenewedOnceItIsOverByTheClockOfTheProcess() {
		acquire(this.store, "a");
		pass(RELIABLE.minusNanos(1));
		assertThat(this.store.release("key", "a")).isTrue();
		acquire(this.store, "b");
		pass(RELIABLE.minusMillis(500));
		this.store.acquire(new AcquireCommand("other", "c", LEASE, "", ""));
		pass(Duration.ofMillis(500));
		assertThat(renew(this.store, "b")).isEqualTo(RenewResult.REFUSED);
		assertThat(this.nodes).allMatch((node) -> node.find("key").isPresent());
	}

	/**
	 * All five nodes together take half of a lease for their answers.
	 */
	@Test
	void r5RenewedLeaseCountsFromTheTimeOfItsSending() {
		AtomicReference<Duration> delay = new AtomicReference<>(Duration.ZERO);
		QuorumLockStore slow = new QuorumLockStore(this.nodes, SETTINGS, this.time::get, List.of(),
				(node) -> (command) -> {
					pass(delay.get());
					command.run();
				});
		acquire(slow, "a");
		delay.set(LEASE.dividedBy(10));
		assertThat(renew(slow, "a")).isEqualTo(RenewResult.RENEWED);
		delay.set(Duration.ZERO);
		pass(RELIABLE.minus(LEASE.dividedBy(2)));
		assertThat(renew(slow, "a")).isEqualTo(RenewResult.REFUSED);
	}

	@Test
	void r6RenewalWithAShorterLeaseDoesNotEndTheLongerOne() {
		acquire(this.store, "a");
		assertThat(this.store.renew(List.of(new RenewCommand("key", "a", LEASE.dividedBy(10)))))
			.containsExactly(RenewResult.RENEWED);
		pass(LEASE.dividedBy(2));
		assertThat(renew(this.store, "a")).isEqualTo(RenewResult.RENEWED);
		assertThat(this.store.release("key", "a")).isTrue();
	}

	/**
	 * The ballots that are over are forgotten once a second, and this one is not yet.
	 */
	@Test
	void r11TokenOfAnOwnerWhoseLeaseIsOverIsNotGrantedAgain() {
		long first = ((Granted) acquire(this.store, "a")).token();
		pass(LEASE.minusMillis(500));
		this.store.acquire(new AcquireCommand("other", "b", LEASE, "", ""));
		pass(Duration.ofMillis(500));
		assertThat(((Granted) acquire(this.store, "a")).token()).isGreaterThan(first);
	}

	/**
	 * A lock needs four of five votes.
	 */
	@Test
	void renewalNeedsAsManyVotesAsTheLock() {
		QuorumLockStore careful = store(SETTINGS.withWrongClocks(1));
		assertThat(acquire(careful, "a")).isInstanceOf(Granted.class);
		set(Mode.IS_DOWN, 3, 4);
		assertThat(renew(careful, "a")).isEqualTo(RenewResult.UNKNOWN);
		set(Mode.WORKS, 3, 4);
		this.nodes.get(3).restartEmpty();
		assertThat(renew(careful, "a")).isEqualTo(RenewResult.RENEWED);
		this.nodes.subList(0, 2).forEach(FaultyNode::restartEmpty);
		assertThat(renew(careful, "a")).isEqualTo(RenewResult.REFUSED);
	}

	/**
	 * The answers are those of the leases in their order, wherever the locks that are not
	 * held any more are.
	 */
	@Test
	void renewalsAreAnsweredInTheirOrder() {
		Stream.of("x", "y").forEach((key) -> this.store.acquire(new AcquireCommand(key, "a", LEASE, "", "")));
		assertThat(this.store
			.renew(Stream.of("other", "x", "none", "y").map((key) -> new RenewCommand(key, "a", LEASE)).toList()))
			.containsExactly(RenewResult.REFUSED, RenewResult.RENEWED, RenewResult.REFUSED, RenewResult.RENEWED);
	}

	/**
	 * The answer of the node to the renewal comes late. Its vote would be in the way of
	 * the next owner for a lease.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void nodeIsNotFilledUpOnceTheLockIsNotHeld(boolean released) {
		Queue<Runnable> late = new ArrayDeque<>();
		AtomicBoolean hangs = new AtomicBoolean();
		QuorumLockStore filling = new QuorumLockStore(this.nodes, SETTINGS.withCommandTimeout(Patience.EVENTUALLY),
				this.time::get, List.of(), (node) -> (command) -> {
					if (node == 0 && hangs.get()) {
						late.add(command);
					}
					else {
						command.run();
					}
				});
		set(Mode.IS_DOWN, 0);
		assertThat(acquire(filling, "a")).isInstanceOf(Granted.class);
		set(Mode.WORKS, 0);
		hangs.set(true);
		assertThat(renew(filling, "a")).isEqualTo(RenewResult.RENEWED);
		if (released) {
			assertThat(filling.release("key", "a")).isTrue();
		}
		else {
			pass(RELIABLE);
		}
		assertThat(late).as("the renewal").isNotEmpty();
		for (Runnable command = late.poll(); command != null; command = late.poll()) {
			command.run();
		}
		assertThat(this.nodes.get(0).find("key")).isEmpty();
	}

	@Test
	void ballotsOfLeasesThatAreOverAreForgotten() {
		acquire(this.store, "a");
		assertThat(this.store.ballots()).isEqualTo(1);
		pass(LEASE);
		this.store.sweep();
		assertThat(this.store.ballots()).isZero();
	}

	@Test
	void ballotsOfLostLocksAreForgottenWhileOthersAreAcquired() {
		acquire(this.store, "a");
		pass(LEASE);
		this.store.acquire(new AcquireCommand("other", "b", LEASE, "", ""));
		assertThat(this.store.ballots()).isEqualTo(1);
		pass(LEASE);
		renew(this.store, "a");
		assertThat(this.store.ballots()).isZero();
	}

	@Test
	void sharedAndFairLocksAreRefused() {
		assertThat(this.store.supportsMembers()).isFalse();
		assertThat(this.store.supportsFairLocks()).isFalse();
		assertThatIllegalArgumentException().isThrownBy(() -> acquire(this.store, "+a"))
			.withMessageContaining("shared");
		MailboxAddress request = MailboxAddress.create(LEASE).ofRequest(1);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.store.acquire(new AcquireCommand("key", "a", LEASE, "", "", request, true, null)))
			.withMessageContaining("fair");
	}

	/**
	 * The acquire was never sent to this node, and the vote comes with a renewal.
	 */
	@Test
	void nodeThatIsFilledUpIsReleased() {
		AtomicBoolean full = new AtomicBoolean(true);
		QuorumLockStore filling = new QuorumLockStore(this.nodes, SETTINGS, this.time::get, List.of(),
				(node) -> (command) -> {
					if (node == 2 && full.get()) {
						throw new RejectedExecutionException();
					}
					command.run();
				});
		assertThat(acquire(filling, "a")).isInstanceOf(Granted.class);
		full.set(false);
		assertThat(renew(filling, "a")).isEqualTo(RenewResult.RENEWED);
		assertThat(this.nodes.get(2).find("key")).as("is filled up").isPresent();
		assertThat(filling.release("key", "a")).isTrue();
		assertThat(this.nodes).allMatch((node) -> node.find("key").isEmpty());
	}

}
