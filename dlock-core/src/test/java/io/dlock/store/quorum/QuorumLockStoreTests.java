package io.dlock.store.quorum;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.Quarantine;
import io.dlock.store.ReleaseResult;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.quorum.FaultyNode.Mode;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.CapturedLog;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Locks by majority while nodes fail. All nodes run on the thread of the test, and time
 * passes when the test says so.
 */
class QuorumLockStoreTests {

	private static final Duration LEASE = Duration.ofSeconds(10);

	private static final QuorumSettings SETTINGS = new QuorumSettings(Duration.ofMillis(500), 0);

	/**
	 * A younger vote may be that of a candidate.
	 */
	private static final Duration YOUNG = SETTINGS.commandTimeout().multipliedBy(2);

	private final AtomicLong time = new AtomicLong();

	private final List<FaultyNode> nodes = FaultyNode.list(5, this.time::get, Duration.ZERO);

	private final QuorumLockStore store = store(SETTINGS);

	private QuorumLockStore store(QuorumSettings settings) {
		return store(this.nodes, settings);
	}

	private QuorumLockStore store(List<? extends LockStore> nodes, QuorumSettings settings) {
		return new QuorumLockStore(nodes, settings, this.time::get, List.of(), (node) -> Runnable::run);
	}

	private static AcquireCommand command(String owner) {
		return new AcquireCommand("key", owner, LEASE, "holder " + owner, "");
	}

	private static AcquireResult acquire(QuorumLockStore store, String owner) {
		return store.acquire(command(owner));
	}

	private static RenewResult renew(QuorumLockStore store, String owner) {
		return store.renew(List.of(new RenewCommand("key", owner, LEASE))).get(0);
	}

	private void set(Mode mode, int... numbers) {
		for (int number : numbers) {
			this.nodes.get(number).set(mode);
		}
	}

	private void pass(Duration duration) {
		this.time.addAndGet(duration.toNanos());
	}

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
			.satisfies((ex) -> assertThat(ex.isLasting()).isFalse());
		this.nodes.get(1).refuse();
		this.nodes.get(3).refuse();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"))
			.satisfies((ex) -> assertThat(ex.isLasting()).isTrue());
	}

	/**
	 * All nodes vote, and then hang when their tokens are raised.
	 */
	@Test
	void tokenThatNoMajorityConfirmsIsAFailureAndNotBusy() {
		this.nodes.get(0).acquire(command("setter"));
		this.nodes.get(0).raiseToken("key", "setter", 4_000_000_000_000_000L);
		this.nodes.get(0).release("key", "setter");
		set(Mode.IS_DOWN, 3, 4);
		AtomicInteger asked = new AtomicInteger();
		Executor votes = (command) -> {
			if (asked.incrementAndGet() <= this.nodes.size()) {
				command.run();
			}
		};
		QuorumLockStore hanging = new QuorumLockStore(this.nodes, SETTINGS, this.time::get, List.of(), (node) -> votes);
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
	void lostAttemptIsRevokedOnNodesThatDidNotAnswer() {
		set(Mode.LOSES_ANSWERS, 0, 1, 2);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"));
		set(Mode.WORKS, 0, 1, 2);
		assertThat(acquire(store(SETTINGS), "b")).isInstanceOf(Granted.class);
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
	void nodeThatLostItsDataDoesNotVoteForTheLongestLease() {
		List<FaultyNode> forgetful = FaultyNode.list(5, this.time::get, LEASE);
		pass(LEASE);
		forgetful.get(3).set(Mode.IS_DOWN);
		forgetful.get(4).set(Mode.IS_DOWN);
		assertThat(acquire(store(forgetful, SETTINGS), "a")).isInstanceOf(Granted.class);
		forgetful.get(3).set(Mode.WORKS);
		forgetful.get(4).set(Mode.WORKS);
		forgetful.get(0).restartEmpty();
		pass(YOUNG);
		QuorumLockStore other = store(forgetful, SETTINGS);
		assertThat(acquire(other, "b")).as("0, 3 and 4 would be a majority").isInstanceOf(Refused.class);
		assertThat(other.nodes()).extracting(QuorumNodeStatus::voting).containsExactly(false, true, true, true, true);
		assertThat(other.quarantine()).contains(Duration.ZERO);
		pass(LEASE);
		assertThat(acquire(other, "b")).isInstanceOf(Granted.class);
	}

	@Test
	void quarantineOfAMajorityIsNotBusy() {
		List<FaultyNode> forgetful = FaultyNode.list(5, this.time::get, LEASE);
		pass(LEASE);
		QuorumLockStore quorum = store(forgetful, SETTINGS);
		assertThat(acquire(quorum, "a")).isInstanceOf(Granted.class);
		forgetful.get(0).restartEmpty();
		pass(LEASE.dividedBy(5));
		forgetful.get(1).restartEmpty();
		pass(LEASE.dividedBy(5));
		forgetful.get(2).restartEmpty();
		assertThatExceptionOfType(StoreQuarantinedException.class)
			.isThrownBy(() -> acquire(store(forgetful, SETTINGS), "b"))
			.satisfies((ex) -> assertThat(ex.remaining()).as("until the first of the three votes")
				.isEqualTo(LEASE.multipliedBy(3).dividedBy(5)));
		assertThat(renew(quorum, "a")).as("two of five know it").isEqualTo(RenewResult.REFUSED);
	}

	@Test
	void quarantineAndOutageThatLeaveNoMajorityAreNotBusy() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, LEASE);
		pass(LEASE);
		three.get(0).restart();
		three.get(1).set(Mode.IS_DOWN);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(store(three, SETTINGS), "a"))
			.withMessageContaining("1 of 3")
			.isNotInstanceOf(StoreQuarantinedException.class);
		three.get(1).set(Mode.WORKS);
		assertThat(acquire(store(three, SETTINGS), "b")).as("nothing is left").isInstanceOf(Granted.class);
	}

	@Test
	void lockThatIsPassedOnInAQuarantineIsReleased() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, LEASE);
		pass(LEASE);
		QuorumLockStore quorum = store(three, SETTINGS);
		assertThat(acquire(quorum, "a")).isInstanceOf(Granted.class);
		three.forEach(FaultyNode::restart);
		assertThatExceptionOfType(StoreQuarantinedException.class)
			.isThrownBy(() -> quorum.acquire(new AcquireCommand("key", "b", LEASE, "", "", null, false, "a")));
		assertThat(three).allMatch((node) -> node.find("key").isEmpty());
	}

	@Test
	void leaseThatANodeRefusesIsAMisuse() {
		List<RedisLockStore> nodes = Stream.generate(QuorumLockStoreTests::withQuarantine).limit(3).toList();
		try (QuorumLockStore quorum = new QuorumLockStore(nodes, SETTINGS.withCommandTimeout(Patience.COMMAND))) {
			assertThatIllegalArgumentException().isThrownBy(() -> acquire(quorum, "a"))
				.withMessageContaining("longest lease");
		}
	}

	private static RedisLockStore withQuarantine() {
		return new RedisLockStore(new LettuceConnectionFactory("127.0.0.1", 1),
				RedisLockStoreSettings.defaults().withQuarantine(new Quarantine(LEASE.minusMillis(1), Duration.ZERO)));
	}

	@Test
	void leaseThatTheAttemptUsedUpIsCongestionAndNotBusy() {
		QuorumLockStore slow = new QuorumLockStore(this.nodes, SETTINGS, this.time::get, List.of(),
				(node) -> (command) -> {
					pass(LEASE.dividedBy(5));
					command.run();
				});
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

	@Test
	void renewalWithoutAMajorityIsNotKnown() {
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		set(Mode.IS_DOWN, 0, 1, 2);
		assertThat(renew(this.store, "a")).isEqualTo(RenewResult.UNKNOWN);
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

	@Test
	void nodesAreAnOddNumberOfDifferentStores() {
		MemoryLockStore one = new MemoryLockStore();
		MemoryLockStore two = new MemoryLockStore();
		assertThatIllegalArgumentException().isThrownBy(() -> new QuorumLockStore(List.of(one), SETTINGS));
		assertThatIllegalArgumentException().isThrownBy(() -> new QuorumLockStore(this.nodes.subList(0, 4), SETTINGS));
		assertThatIllegalArgumentException().isThrownBy(() -> new QuorumLockStore(List.of(one, two, one), SETTINGS));
		assertThatIllegalArgumentException().isThrownBy(
				() -> new QuorumLockStore(List.of(one, two, new MemoryLockStore()), SETTINGS.withWrongClocks(2)));
	}

	@Test
	void stateCountsTheNodesThatAnswerAndNamesTheOthers() {
		set(Mode.IS_DOWN, 0, 1, 3);
		StoreFacts facts = this.store.inspection().diagnose();
		assertThat(facts.server()).startsWith("2 of 5 nodes answer (");
		assertThat(facts.warnings()).filteredOn((warning) -> warning.startsWith("Does not answer: "))
			.hasSize(3)
			.allMatch((warning) -> warning.endsWith(": down"));
	}

	@Test
	void nodeAnswersOnlyIfItsServerDoes() {
		acquire(this.store, "a");
		set(Mode.IS_DOWN, 0);
		renew(this.store, "a");
		this.store.sweep();
		assertThat(this.store.nodes()).extracting(QuorumNodeStatus::answering)
			.containsExactly(false, true, true, true, true);
		set(Mode.WORKS, 0);
		renew(this.store, "a");
		assertThat(this.store.nodes()).allMatch(QuorumNodeStatus::answering);
	}

	@Test
	void startWarnsOfNodesThatAreDownAndFailsWithoutAMajority() {
		try (CapturedLog log = CapturedLog.of(QuorumLockStore.class)) {
			set(Mode.IS_DOWN, 0, 3);
			this.store.verify();
			assertThat(log.messages()).hasSize(2).allMatch((message) -> message.endsWith(": down"));
			assertThat(this.store.nodes()).extracting(QuorumNodeStatus::answering)
				.containsExactly(false, true, true, false, true);
			set(Mode.IS_DOWN, 1);
			assertThatExceptionOfType(StoreException.class).isThrownBy(this.store::verify)
				.withMessageMatching(".*: 2 of 5, not .*: down, not .*: down, not .*: down");
			assertThat(log.messages()).hasSize(2);
		}
	}

	@Test
	void startIsTriedAgainAsLongAsNodesThatDoNotRefuseItAreAMajority() {
		this.nodes.get(0).refuse();
		set(Mode.IS_DOWN, 1, 3);
		assertThatExceptionOfType(StoreException.class).isThrownBy(this.store::verify)
			.satisfies((ex) -> assertThat((StoreException) ex.getCause()).matches((cause) -> !cause.isLasting()));
		this.nodes.get(1).refuse();
		this.nodes.get(4).refuse();
		assertThatExceptionOfType(StoreException.class).isThrownBy(this.store::verify)
			.satisfies((ex) -> assertThat((StoreException) ex.getCause()).matches(StoreException::isLasting));
	}

	@Test
	void sameServerTwiceIsFoundAtStart() {
		FaultyNode one = this.nodes.get(0);
		FaultyNode same = new FaultyNode(this.time::get, Duration.ZERO);
		same.share(one);
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(() -> {
			new QuorumLockStore(List.of(one, this.nodes.get(1), same), SETTINGS.withCommandTimeout(Patience.COMMAND))
				.verify();
		}).withMessageContaining("one server");
	}

}
