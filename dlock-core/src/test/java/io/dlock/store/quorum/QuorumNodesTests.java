package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.LockStore;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.quorum.FaultyNode.Mode;
import io.dlock.test.CapturedLog;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The nodes of a quorum: their number, their state, and the check at start.
 */
class QuorumNodesTests extends AbstractQuorumTests {

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

	/**
	 * A lock needs four of five votes.
	 */
	@Test
	void startNeedsAsManyNodesAsALock() {
		QuorumLockStore careful = store(SETTINGS.withWrongClocks(1));
		set(Mode.IS_DOWN, 0);
		careful.verify();
		set(Mode.IS_DOWN, 3);
		assertThatExceptionOfType(StoreException.class).isThrownBy(careful::verify).withMessageContaining("3 of 5");
	}

	@Test
	void startIsTriedAgainAsLongAsNodesThatDoNotRefuseItAreAMajority() {
		this.nodes.get(0).refuse();
		set(Mode.IS_DOWN, 1, 3);
		assertThatExceptionOfType(StoreException.class).isThrownBy(this.store::verify)
			.satisfies((ex) -> assertThat((StoreException) ex.getCause()).matches((cause) -> !cause.isPermanent()));
		this.nodes.get(1).refuse();
		this.nodes.get(4).refuse();
		assertThatExceptionOfType(StoreException.class).isThrownBy(this.store::verify)
			.satisfies((ex) -> assertThat((StoreException) ex.getCause()).matches(StoreException::isPermanent));
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

	/**
	 * The other nodes would be a majority.
	 */
	@Test
	void wrongConfigurationOfOneNodeIsFoundAtStart() {
		this.nodes.get(3).misconfigure();
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(this.store::verify)
			.satisfies((ex) -> assertThat(ex.action()).isEqualTo("Change its policy."));
	}

	@Test
	void nodeThatDoesNotCloseKeepsNoOtherOpen() {
		this.nodes.get(0).stayOpen();
		this.nodes.get(2).stayOpen();
		this.store.close();
		assertThat(this.nodes).extracting(FaultyNode::isClosed).containsExactly(false, true, false, true, true);
	}

	@Test
	void statusCountsTheCommandsAndThoseWithoutAnAnswer() {
		this.store.find("key");
		set(Mode.IS_DOWN, 0);
		this.store.find("key");
		this.store.find("key");
		assertThat(this.store.nodes()).extracting(QuorumNodeStatus::calls).containsExactly(3L, 3L, 3L, 3L, 3L);
		assertThat(this.store.nodes()).extracting(QuorumNodeStatus::failures).containsExactly(2L, 0L, 0L, 0L, 0L);
	}

	/**
	 * All threads of the node were busy meanwhile. The caller has the failure already,
	 * and an acquire that is sent now would leave a vote.
	 */
	@Test
	void commandThatHasWaitedForLongerThanTheTimeoutIsNotSent() {
		Duration timeout = Duration.ofMillis(1);
		Queue<Runnable> waiting = new ArrayDeque<>();
		QuorumNode node = new QuorumNode(this.nodes.get(0), waiting::add, SETTINGS.withCommandTimeout(timeout));
		CompletableFuture<String> answer = node.ask(LockStore::describe);
		long asked = System.nanoTime();
		Awaitility.await().until(() -> System.nanoTime() - asked > timeout.toNanos());
		waiting.remove().run();
		assertThat(answer).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(StoreException.class, (ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE))
			.withMessageContaining("not sent");
		assertThat(node.status().calls()).isZero();
	}

	@Test
	void commandThatHasWaitedWithinTheTimeoutIsSent() {
		Queue<Runnable> waiting = new ArrayDeque<>();
		QuorumNode node = new QuorumNode(this.nodes.get(0), waiting::add,
				SETTINGS.withCommandTimeout(Patience.EVENTUALLY));
		CompletableFuture<String> answer = node.ask(LockStore::describe);
		waiting.remove().run();
		assertThat(answer).isCompletedWithValue("node");
		assertThat(node.status().calls()).isEqualTo(1);
	}

	/**
	 * The answer counts, and not that the node was created more than a timeout ago.
	 */
	@Test
	void nodeThatAnsweredJustNowIsCongestedWhenItIsAskedTooMuch() {
		Duration timeout = Duration.ofMillis(50);
		AtomicBoolean full = new AtomicBoolean();
		QuorumNode node = new QuorumNode(this.nodes.get(0), (command) -> {
			if (full.get()) {
				throw new RejectedExecutionException();
			}
			command.run();
		}, SETTINGS.withCommandTimeout(timeout));
		long created = System.nanoTime();
		Awaitility.await().until(() -> System.nanoTime() - created > timeout.toNanos());
		Awaitility.await().until(() -> {
			full.set(false);
			var unused = node.ask(LockStore::describe);
			full.set(true);
			return node.ask(LockStore::describe)
				.handle((answer, failure) -> failure)
				.join() instanceof StoreCongestedException;
		});
	}

}
