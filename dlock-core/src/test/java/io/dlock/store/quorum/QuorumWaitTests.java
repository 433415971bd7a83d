package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The waits of a caller: for the nodes, and for a lock that is busy.
 */
class QuorumWaitTests extends AbstractQuorumTests {

	@AfterEach
	void clearFlag() {
		Thread.interrupted();
	}

	private static void assertThatFlagIsKept() {
		assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
	}

	@Test
	void interruptEndsTheWaitForANodeThatHangs() {
		Round<Boolean> round = new Round<>(List.of(CompletableFuture.completedFuture(true), new CompletableFuture<>()),
				2);
		Thread.currentThread().interrupt();
		round.await((answers) -> false, Duration.ofHours(1).toNanos());
		assertThatFlagIsKept();
		assertThat(round.pending()).isPositive();
	}

	@Test
	void threadThatWaitsDoesNotWakeUpForFewerAnswersThanDecide() {
		CompletableFuture<Boolean> second = new CompletableFuture<>();
		Round<Boolean> round = new Round<>(
				List.of(CompletableFuture.completedFuture(true), second, new CompletableFuture<>()), 2);
		Thread waiting = Thread.currentThread();
		CompletableFuture<Void> answering = CompletableFuture.runAsync(() -> {
			Awaitility.await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
			second.complete(true);
		});
		List<Integer> seen = new ArrayList<>();
		round.await((answers) -> {
			seen.add(answers.answers().size());
			return answers.answers().size() == 2;
		}, Duration.ofHours(1).toNanos());
		assertThat(seen).containsExactly(0, 2);
		answering.join();
	}

	/**
	 * The votes are split among three candidates. The interrupt comes while this one
	 * gives its vote back.
	 */
	@Test
	void interruptedThreadDoesNotAskForSplitVotesAgain() {
		for (int node = 0; node < 4; node++) {
			this.nodes.get(node).acquire(command((node < 2) ? "b" : "c"));
		}
		int before = this.nodes.get(0).asked();
		AtomicInteger commands = new AtomicInteger();
		QuorumLockStore interrupted = new QuorumLockStore(this.nodes, SETTINGS.withCommandTimeout(Duration.ofHours(1)),
				this.time::get, List.of(), (node) -> (command) -> {
					command.run();
					if (commands.incrementAndGet() > this.nodes.size()) {
						Thread.currentThread().interrupt();
					}
				});
		assertThatExceptionOfType(StoreCongestedException.class).isThrownBy(() -> acquire(interrupted, "a"))
			.withMessageContaining("split");
		assertThatFlagIsKept();
		assertThat(this.nodes.get(0).asked() - before).isEqualTo(1);
		assertThat(this.nodes.get(4).find("key")).as("the vote is given back").isEmpty();
	}

	/**
	 * The leases on the nodes end one after the other. An attempt needs three votes.
	 */
	@Test
	void refusalTellsWhenAMajorityIsFree() {
		this.nodes.forEach((node) -> node.acquire(
				new AcquireCommand("key", "other", LEASE.multipliedBy(1L + this.nodes.indexOf(node)), "other", "")));
		pass(YOUNG);
		assertThat(remaining()).as("all nodes are taken").isEqualTo(LEASE.multipliedBy(3).minus(YOUNG));
		this.nodes.get(0).release("key", "other");
		assertThat(remaining()).as("one node is free").isEqualTo(LEASE.multipliedBy(3).minus(YOUNG));
		this.nodes.get(4).release("key", "other");
		assertThat(remaining()).as("two nodes are free").isEqualTo(LEASE.multipliedBy(2).minus(YOUNG));
	}

	private Duration remaining() {
		return ((Refused) acquire(this.store, "a")).remaining();
	}

	/**
	 * The votes are split among three candidates, and half of the time is over.
	 */
	@Test
	void splitVotesAreNotAskedForAgainWithLittleTimeLeft() {
		for (int node = 0; node < 4; node++) {
			this.nodes.get(node).acquire(command((node < 2) ? "b" : "c"));
		}
		AtomicInteger commands = new AtomicInteger();
		QuorumLockStore slow = new QuorumLockStore(this.nodes, SETTINGS, this.time::get, List.of(),
				(node) -> (command) -> {
					command.run();
					if (node == 4 && commands.incrementAndGet() == 1) {
						long begin = System.nanoTime();
						long half = SETTINGS.commandTimeout().dividedBy(2).toNanos();
						Awaitility.await().until(() -> System.nanoTime() - begin > half);
					}
				});
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(slow, "a"));
		assertThat(this.nodes.get(4).asked()).isLessThanOrEqualTo(1);
	}

	/**
	 * Nodes 0 and 1 have the votes of former attempts, and node 2 the largest token. The
	 * others hang when their token is raised, and when the votes are released.
	 */
	@Test
	void attemptWhoseRevocationHangsMayHaveAnEffect() {
		this.nodes.get(0).acquire(command("b"));
		this.nodes.get(1).acquire(command("c"));
		this.nodes.get(2).acquire(command("setter"));
		this.nodes.get(2).raiseToken("key", "setter", 4_000_000_000_000_000L);
		this.nodes.get(2).release("key", "setter");
		pass(YOUNG);
		AtomicInteger commands = new AtomicInteger();
		QuorumLockStore hanging = new QuorumLockStore(this.nodes, SETTINGS.withCommandTimeout(Duration.ofHours(1)),
				this.time::get, List.of(), (node) -> (command) -> {
					if (commands.incrementAndGet() <= this.nodes.size()) {
						command.run();
					}
					else {
						// ends the wait
						Thread.currentThread().interrupt();
					}
				});
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(hanging, "a"))
			.withMessageContaining("too few confirmed its token")
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
		assertThatFlagIsKept();
		assertThat(hanging.ballots()).as("the votes are not released yet").isEqualTo(1);
	}

}
