package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.quorum.FaultyNode.Mode;
import io.dlock.test.MachineWatch;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Elections: votes that are missing, split, late or hanging, and the tokens of the
 * winners.
 */
class QuorumElectionTests extends AbstractQuorumTests {

	@Test
	void minorityThatIsDownChangesNothing() {
		set(Mode.IS_DOWN, 0, 3);
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		assertThat(acquire(store(SETTINGS), "b")).isInstanceOf(Refused.class);
		assertThat(renew(this.store, "a")).isEqualTo(RenewResult.RENEWED);
		assertThat(this.store.release("key", "a")).isTrue();
		assertThat(acquire(store(SETTINGS), "b")).isInstanceOf(Granted.class);
	}

	@Test
	void majorityThatIsDownIsAFailureAndNotBusy() {
		set(Mode.IS_DOWN, 0, 1, 3);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"))
			.withMessageContaining("2 of 5")
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
		set(Mode.WORKS, 0, 1, 3);
		assertThat(acquire(store(SETTINGS), "b")).as("nothing is left").isInstanceOf(Granted.class);
	}

	@Test
	void nodeThatRefusesForGoodEndsNoWaitForOthers() {
		this.nodes.get(0).refuse();
		set(Mode.IS_DOWN, 1, 3);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"))
			.satisfies((ex) -> assertThat(ex.isPermanent()).isFalse());
		this.nodes.get(1).refuse();
		this.nodes.get(3).refuse();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"))
			.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue());
	}

	/**
	 * Enough nodes vote, and then too many of them hang when their tokens are raised.
	 */
	@ParameterizedTest
	@CsvSource({ "0, 0", "1, 2" })
	void tokenThatNoMajorityConfirmsIsAFailureAndNotBusy(int wrongClocks, int raised) {
		this.nodes.get(0).acquire(command("setter"));
		this.nodes.get(0).raiseToken("key", "setter", 4_000_000_000_000_000L);
		this.nodes.get(0).release("key", "setter");
		set(Mode.IS_DOWN, (wrongClocks > 0) ? 4 : 3, 4);
		AtomicInteger asked = new AtomicInteger();
		Executor votes = (command) -> {
			if (asked.incrementAndGet() <= this.nodes.size() + raised) {
				command.run();
			}
		};
		QuorumLockStore hanging = new QuorumLockStore(this.nodes, SETTINGS.withWrongClocks(wrongClocks), this.time::get,
				List.of(), (node) -> votes);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(hanging, "a"))
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
	}

	/**
	 * One node has the vote of another candidate, one votes, and one hangs.
	 */
	@Test
	void votesThatAreSplitAreCongestionAndNotBusy() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, Duration.ZERO);
		three.get(1).acquire(command("other"));
		assertThatExceptionOfType(StoreCongestedException.class)
			.isThrownBy(() -> acquire(candidate(three, (node) -> node < 2), "a"))
			.withMessageContaining("split");
		assertThat(three.get(0).find("key")).as("the vote is given back").isEmpty();
	}

	/**
	 * The first node has the vote of an attempt that ended without a release.
	 */
	@Test
	void holderIsTheOneThatMostNodesKnow() {
		this.nodes.get(0).acquire(command("former"));
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		set(Mode.IS_DOWN, 3, 4);
		assertThat(this.store.find("key"))
			.hasValueSatisfying((lock) -> assertThat(lock.holder()).isEqualTo("holder a"));
	}

	/**
	 * Nodes whose last token is the same one mint the same next one.
	 */
	@Test
	void candidatesWithOneTokenAreNoHolder() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, Duration.ZERO);
		for (int node = 0; node < 2; node++) {
			three.get(node).acquire(command("other " + node));
			three.get(node).raiseToken("key", "other " + node, 4_000_000_000_000_000L);
		}
		assertThat(store(three, SETTINGS).find("key")).isEmpty();
		assertThatExceptionOfType(StoreCongestedException.class).isThrownBy(() -> acquire(store(three, SETTINGS), "a"));
	}

	/**
	 * The other candidate gives its vote back after the first attempt.
	 */
	@Test
	void votesThatAreSplitAreAskedForAgainWhileANodeHangs() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, Duration.ZERO);
		three.get(1).acquire(command("other"));
		AtomicInteger asked = new AtomicInteger();
		assertThat(acquire(candidate(three, SETTINGS.withCommandTimeout(Duration.ofSeconds(4)), (node) -> {
			if (node == 0 && asked.incrementAndGet() == 2) {
				three.get(1).release("key", "other");
			}
			return node < 2;
		}), "a")).isInstanceOf(Granted.class);
	}

	/**
	 * One node has an old vote of an attempt that ended without a release.
	 */
	@Test
	void voteOfASlowNodeIsAwaitedIfThereIsNoOtherCandidate() {
		Duration timeout = Duration.ofSeconds(4);
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, Duration.ZERO);
		three.get(1).acquire(command("other"));
		pass(timeout.multipliedBy(2));
		Executor slow = CompletableFuture.delayedExecutor(timeout.toMillis() / 8, TimeUnit.MILLISECONDS);
		QuorumLockStore patient = new QuorumLockStore(three, SETTINGS.withCommandTimeout(timeout), this.time::get,
				List.of(), (node) -> (node < 2) ? Runnable::run : slow);
		assertThat(acquire(patient, "a")).isInstanceOf(Granted.class);
	}

	private QuorumLockStore candidate(List<FaultyNode> nodes, IntPredicate works) {
		return candidate(nodes, SETTINGS, works);
	}

	private QuorumLockStore candidate(List<FaultyNode> nodes, QuorumSettings settings, IntPredicate works) {
		return new QuorumLockStore(nodes, settings, this.time::get, List.of(), (node) -> (command) -> {
			if (works.test(node)) {
				command.run();
			}
		});
	}

	/**
	 * Two nodes vote and then hang, three hang from the beginning: neither the votes nor
	 * their revocation come.
	 */
	@Test
	@Timing
	void acquireTakesOneCommandTimeoutWhicheverCommandsHang() throws Exception {
		Duration timeout = Duration.ofSeconds(1);
		AtomicInteger asked = new AtomicInteger();
		Executor hanging = (command) -> {
			if (asked.incrementAndGet() <= 2) {
				command.run();
			}
		};
		try (MachineWatch watch = MachineWatch.start();
				QuorumLockStore impatient = new QuorumLockStore(this.nodes, SETTINGS.withCommandTimeout(timeout),
						this.time::get, List.of(), (node) -> hanging)) {
			assertThat(watch
				.time(() -> assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(impatient, "a"))
					.withMessageContaining("2 of 5")))
				.isLessThan(timeout.multipliedBy(3).dividedBy(2));
		}
	}

	@Test
	void lostAttemptIsRevokedOnNodesThatDidNotAnswer() {
		set(Mode.LOSES_ANSWERS, 0, 1, 2);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"));
		set(Mode.WORKS, 0, 1, 2);
		assertThat(acquire(store(SETTINGS), "b")).isInstanceOf(Granted.class);
	}

	/**
	 * The connections break after the votes and before the answers.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void revocationThatFailsIsRepeated(boolean retried) {
		set(Mode.BREAKS, 0, 1, 2);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"));
		set(Mode.WORKS, 0, 1, 2);
		set(Mode.IS_DOWN, 3, 4);
		if (retried) {
			assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
			this.store.release("key", "a");
		}
		else {
			this.store.release("key", "a");
			assertThat(acquire(store(SETTINGS), "b")).isInstanceOf(Granted.class);
		}
		assertThat(this.store.ballots()).isZero();
	}

	/**
	 * Connections that break again and again: the votes of the first attempt are there,
	 * and cannot be released when the second one begins.
	 */
	@Test
	void ownVotesOfALostAttemptAreNoHolderAndAreReleasedLater() {
		set(Mode.BREAKS, 0, 1, 2);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"));
		pass(YOUNG);
		for (int i = 0; i < 3; i++) {
			set(Mode.FAILS_ONCE, 0, 1, 2);
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"));
		}
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
	}

	/**
	 * The request does not know that it has votes of an earlier attempt.
	 */
	@Test
	void votesThatOutliveARefusedAttemptAreReleasedWithTheRequest() {
		set(Mode.BREAKS, 0, 1);
		set(Mode.IS_DOWN, 2, 3, 4);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"));
		set(Mode.WORKS, 2, 3, 4);
		assertThat(acquire(store(SETTINGS), "b")).isInstanceOf(Granted.class);
		pass(YOUNG);
		set(Mode.IS_DOWN, 0, 1);
		assertThat(acquire(this.store, "a")).isInstanceOf(Refused.class);
		set(Mode.WORKS, 0, 1);
		assertThat(this.nodes.get(0).find("key")).isPresent();
		this.store.release("key", "a");
		assertThat(this.nodes.get(0).find("key")).isEmpty();
		assertThat(this.nodes.get(1).find("key")).isEmpty();
		assertThat(this.store.ballots()).isZero();
	}

	/**
	 * The connection breaks after the vote, and the release fails.
	 */
	@Test
	void voteOfASplitAttemptThatIsNotReleasedIsNoHolder() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, Duration.ZERO);
		three.get(1).acquire(command("other"));
		AtomicInteger asked = new AtomicInteger();
		QuorumLockStore store = candidate(three, (node) -> {
			if (node == 0 && asked.incrementAndGet() == 2) {
				three.get(0).set(Mode.IS_DOWN);
			}
			return node < 2;
		});
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(store, "a"))
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
		three.get(0).set(Mode.WORKS);
		three.get(1).release("key", "other");
		pass(YOUNG);
		assertThat(acquire(store, "a")).isInstanceOf(Granted.class);
	}

	/**
	 * The time is over after the first attempt, and its vote is not released.
	 */
	@Test
	void splitAttemptThatLeavesAVoteMayHaveAnEffect() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, Duration.ZERO);
		three.get(1).acquire(command("other"));
		AtomicInteger asked = new AtomicInteger();
		QuorumLockStore store = candidate(three, (node) -> {
			if (node == 0 && asked.incrementAndGet() == 1) {
				LockSupport.parkNanos(SETTINGS.commandTimeout().toNanos() * 3 / 5);
			}
			else if (node == 0) {
				three.get(0).set(Mode.IS_DOWN);
			}
			return node < 2;
		});
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(store, "a"))
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
	}

	/**
	 * A request that is told that the lock is busy releases nothing.
	 */
	@Test
	void refusedAttemptIsForgottenAlthoughANodeIsDown() {
		set(Mode.LOSES_ANSWERS, 0);
		assertThat(acquire(store(SETTINGS), "a")).isInstanceOf(Granted.class);
		assertThat(acquire(this.store, "b")).isInstanceOf(Refused.class);
		assertThat(this.store.ballots()).isZero();
	}

	/**
	 * They would take the votes of the node from others when it is back.
	 */
	@Test
	void attemptsThatAreOverAreNotSentToANodeThatHung() {
		Queue<Runnable> hanging = new ArrayDeque<>();
		QuorumLockStore waiting = new QuorumLockStore(this.nodes, SETTINGS, this.time::get, List.of(),
				(node) -> (node == 0) ? hanging::add : Runnable::run);
		set(Mode.IS_DOWN, 1, 2);
		for (int i = 0; i < 4; i++) {
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(waiting, "a"))
				.matches((ex) -> ex.effect() == Effect.UNKNOWN);
			assertThat(Thread.interrupted()).isTrue();
		}
		for (Runnable command = hanging.poll(); command != null; command = hanging.poll()) {
			command.run();
		}
		assertThat(this.nodes.get(0).asked()).isZero();
	}

	@Test
	void revocationIsForgottenAfterTheLease() {
		set(Mode.BREAKS, 0, 1, 2);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"));
		assertThat(this.store.ballots()).isEqualTo(1);
		pass(LEASE.plus(SETTINGS.commandTimeout()));
		this.store.sweep();
		assertThat(this.store.ballots()).isZero();
	}

	/**
	 * The nodes answer, and this process has more to ask than they can be asked.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void processThatAsksTooMuchIsCongestedUnlessTheNodesAreSilent(boolean answering) {
		QuorumSettings shortly = new QuorumSettings(answering ? Duration.ofHours(1) : Duration.ofMillis(1), 0);
		QuorumLockStore full = new QuorumLockStore(this.nodes, shortly, this.time::get, List.of(),
				(node) -> (command) -> {
					LockSupport.parkNanos(Duration.ofMillis(2).toNanos());
					throw new RejectedExecutionException();
				});
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(full, "a"))
			.matches((ex) -> ex.isOutage() != answering)
			.withMessageContaining("0 of 5 lock nodes voted");
	}

	@Test
	void lateCommandOfALostAttemptTakesNoVoteFromTheNext() {
		set(Mode.IS_LATE, 0, 1, 2);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"));
		set(Mode.WORKS, 0, 1, 2);
		set(Mode.IS_DOWN, 3, 4);
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		this.nodes.forEach(FaultyNode::deliver);
		assertThat(acquire(store(SETTINGS), "b")).as("a late release").isInstanceOf(Refused.class);
	}

	@Test
	void tokenIsKnownToAMajorityBeforeItIsReturned() {
		this.nodes.get(0).acquire(command("setter"));
		this.nodes.get(0).raiseToken("key", "setter", 4_000_000_000_000_000L);
		this.nodes.get(0).release("key", "setter");
		set(Mode.IS_DOWN, 3, 4);
		long first = ((Granted) acquire(this.store, "a")).token();
		assertThat(first).isGreaterThan(4_000_000_000_000_000L);
		this.store.release("key", "a");
		set(Mode.WORKS, 3, 4);
		set(Mode.IS_DOWN, 0, 1);
		assertThat(((Granted) acquire(store(SETTINGS), "b")).token()).isGreaterThan(first);
	}

	@Test
	void tokenThatAllNodesTakeIsNotRaised() {
		Awaitility.await().until(() -> {
			int before = this.nodes.stream().mapToInt(FaultyNode::raised).sum();
			assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
			assertThat(this.store.release("key", "a")).isTrue();
			return this.nodes.stream().mapToInt(FaultyNode::raised).sum() == before;
		});
	}

	@Test
	void clockThatIsTooFarBehindMakesNewProposals() {
		ProposedTokens tokens = new ProposedTokens();
		assertThat(tokens.propose()).isZero();
		tokens.learn(0, 1_000_000_000_000_000L);
		long proposed = tokens.propose();
		assertThat(proposed).isGreaterThan(1_000_000_000_000_000L);
		tokens.learn(proposed, proposed - 1);
		assertThat(tokens.propose()).isZero();
	}

	@Test
	void leaseThatTheAttemptUsedUpIsCongestionAndNotBusy() {
		AtomicReference<Duration> delay = new AtomicReference<>(Duration.ZERO);
		QuorumLockStore slow = new QuorumLockStore(this.nodes, SETTINGS, this.time::get, List.of(),
				(node) -> (command) -> {
					pass(delay.get());
					command.run();
				});
		assertThat(acquire(slow, "before")).as("afterwards it proposes a token that all nodes take")
			.isInstanceOf(Granted.class);
		slow.release("key", "before");
		delay.set(LEASE.dividedBy(5));
		assertThatExceptionOfType(StoreCongestedException.class).isThrownBy(() -> acquire(slow, "a"));
		assertThat(acquire(this.store, "b")).isInstanceOf(Granted.class);
	}

	@Test
	void wrongClockBreaksNothingIfItIsExpected() {
		QuorumSettings careful = SETTINGS.withWrongClocks(1);
		set(Mode.IS_DOWN, 4);
		assertThat(acquire(store(careful), "a")).isInstanceOf(Granted.class);
		set(Mode.WORKS, 4);
		this.nodes.get(0).stepClock(LEASE);
		pass(YOUNG);
		assertThat(acquire(store(careful), "b")).isInstanceOf(Refused.class);
	}

}
