package io.dlock.store.quorum;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.QuorumCapable;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Nodes that send acquires and releases without a thread that waits for the answer.
 */
class SentVotesTests {

	private static final QuorumSettings SETTINGS = new QuorumSettings(Patience.EVENTUALLY, 0);

	private static final AcquireCommand COMMAND = new AcquireCommand("key", "owner", Duration.ofMinutes(10), "", "");

	private final MemoryLockStore memory = new MemoryLockStore();

	private final List<String> sent = new ArrayList<>();

	private final Queue<Runnable> onThreads = new ArrayDeque<>();

	private final Executor noThreads = (command) -> {
		throw new RejectedExecutionException("no threads");
	};

	/** Answers that are still to come. */
	private final Queue<Runnable> answers = new ArrayDeque<>();

	private boolean hangs;

	private boolean disconnected;

	private @Nullable StoreException failure;

	private @Nullable RuntimeException refusal;

	private LockStore sending(MemoryLockStore store) {
		return (LockStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { LockStore.class, QuorumCapable.class },
				(proxy, method, arguments) -> switch (method.getName()) {
					case "sendAcquire" ->
						send(method, () -> store.acquire((AcquireCommand) arguments[0], (long) arguments[1]));
					case "sendRelease" ->
						send(method, () -> store.release((String) arguments[0], (String) arguments[1]));
					default -> invoke(method, store, arguments);
				});
	}

	private static @Nullable Object invoke(Method method, Object target, @Nullable Object[] arguments)
			throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	private <T> @Nullable CompletableFuture<T> send(Method method, Supplier<T> command) {
		if (this.disconnected) {
			return null;
		}
		this.sent.add(method.getName());
		if (this.refusal != null) {
			throw this.refusal;
		}
		if (this.failure != null) {
			return CompletableFuture.<T>failedFuture(this.failure).thenApply((answer) -> answer);
		}
		CompletableFuture<T> answer = new CompletableFuture<>();
		this.answers.add(() -> answer.complete(command.get()));
		if (!this.hangs) {
			answer();
		}
		return answer;
	}

	private void answer() {
		for (Runnable next = this.answers.poll(); next != null; next = this.answers.poll()) {
			next.run();
		}
	}

	private QuorumNode node(Executor threads) {
		return new QuorumNode(sending(this.memory), threads, SETTINGS);
	}

	private static Vote vote(QuorumNode node) {
		return new Vote(node, COMMAND.key(), COMMAND.owner(), null);
	}

	private void runOnThreads() {
		for (Runnable next = this.onThreads.poll(); next != null; next = this.onThreads.poll()) {
			next.run();
		}
	}

	@Test
	void lockIsAcquiredAndReleasedWithoutAThread() {
		List<LockStore> nodes = Stream.generate(() -> sending(new MemoryLockStore())).limit(3).toList();
		try (QuorumLockStore store = new QuorumLockStore(nodes, SETTINGS, System::nanoTime, List.of(),
				(node) -> Runnable::run)) {
			assertThat(store.acquire(COMMAND)).isInstanceOf(Granted.class);
			assertThat(store.release("key", "owner")).isTrue();
			assertThat(nodes).allMatch((node) -> node.find("key").isEmpty());
			assertThat(this.sent).containsExactly("sendAcquire", "sendAcquire", "sendAcquire", "sendRelease",
					"sendRelease", "sendRelease");
			assertThat(store.nodes()).allMatch((node) -> node.calls() >= 2);
		}
	}

	@Test
	void refusalOfAQuarantineIsAnAnswer() {
		QuorumNode node = node(this.noThreads);
		this.failure = new StoreQuarantinedException(Duration.ofSeconds(5));
		assertThat(vote(node).acquire(COMMAND, 0)).isCompletedWithValueMatching(
				(vote) -> vote instanceof Refused refused && refused.remaining().equals(Duration.ofSeconds(5)));
		assertThat(node.status()).matches(QuorumNodeStatus::answering).matches((status) -> status.failures() == 0);
	}

	@Test
	void commandThatCannotBeSentNowIsSentOnAThread() {
		Vote vote = vote(node(this.onThreads::add));
		this.disconnected = true;
		CompletableFuture<AcquireResult> acquired = vote.acquire(COMMAND, 0);
		runOnThreads();
		assertThat(acquired).isCompletedWithValueMatching(Granted.class::isInstance);
		CompletableFuture<Boolean> released = vote.release();
		runOnThreads();
		assertThat(released).isCompletedWithValue(true);
		assertThat(this.sent).isEmpty();
	}

	@Test
	void failureOfASentVoteIsThatOfTheStore() {
		this.failure = new StoreException(Effect.NONE, true, "no permission", null);
		Round<AcquireResult> round = new Round<>(List.of(vote(node(this.noThreads)).acquire(COMMAND, 0)), 1);
		assertThat(round.await((answers) -> false, 0).answers()).singleElement()
			.extracting(Round.Answer::failure)
			.isSameAs(this.failure);
	}

	/**
	 * It waited for the vote before it, of a node that hung.
	 */
	@Test
	void voteThatIsGivenUpMeanwhileIsNeitherSentNorAFailureOfTheNode() {
		QuorumNode node = node(this.onThreads::add);
		Vote former = vote(node);
		this.hangs = true;
		var unused = former.acquire(COMMAND, 0);
		Vote vote = new Vote(node, COMMAND.key(), COMMAND.owner(), former);
		CompletableFuture<AcquireResult> acquired = vote.acquire(COMMAND, 0);
		vote.revoke();
		this.hangs = false;
		answer();
		runOnThreads();
		assertThat(acquired).isCompletedExceptionally();
		assertThat(this.sent).containsExactly("sendAcquire", "sendRelease");
		assertThat(node.status()).matches(QuorumNodeStatus::answering).matches((status) -> status.failures() == 0);
	}

	/**
	 * A thread may wait for a connection. The release is sent as well: the command may
	 * have reached the node.
	 */
	@Test
	void nodeThatDoesNotAnswerIsAskedOnAThreadUntilItDoes() {
		QuorumNode node = node(this.onThreads::add);
		this.failure = new StoreException(Effect.UNKNOWN, false, "no answer", null);
		Vote lost = vote(node);
		assertThat(lost.acquire(COMMAND, 0)).isCompletedExceptionally();
		assertThat(node.status()).matches((status) -> !status.answering()).matches((status) -> status.failures() == 1);
		this.failure = null;
		CompletableFuture<AcquireResult> acquired = vote(node).acquire(COMMAND, 0);
		assertThat(acquired).isNotDone();
		runOnThreads();
		assertThat(acquired).isCompletedWithValueMatching(Granted.class::isInstance);
		lost.revoke();
		assertThat(vote(node).acquire(COMMAND, 0)).isCompletedWithValueMatching(Granted.class::isInstance);
		assertThat(this.sent).containsExactly("sendAcquire", "sendRelease", "sendAcquire");
	}

	/**
	 * They would be votes of attempts that are over by the time it goes on.
	 */
	@Test
	void nodeThatHangsGetsFewCommandsWithoutAThread() {
		QuorumNode node = node(this.onThreads::add);
		this.hangs = true;
		for (int i = 0; i < 1000; i++) {
			var unused = vote(node).acquire(COMMAND, 0);
		}
		assertThat(this.sent).hasSizeBetween(100, 200);
		assertThat(this.onThreads).hasSize(1000 - this.sent.size());
		this.hangs = false;
		answer();
		this.sent.clear();
		var unused = vote(node).acquire(COMMAND, 0);
		assertThat(this.sent).as("the node answers, although others wait for its threads").hasSize(1);
	}

	@Test
	void releaseFollowsTheAnswerToTheAcquire() {
		Vote vote = vote(node(this.noThreads));
		this.hangs = true;
		var unused = vote.acquire(COMMAND, 0);
		CompletableFuture<Boolean> released = vote.release();
		assertThat(this.sent).containsExactly("sendAcquire");
		this.hangs = false;
		answer();
		assertThat(released).isCompletedWithValue(true);
		assertThat(this.memory.find("key")).isEmpty();
	}

	/**
	 * The caller has given up the acquire, to which the node answers during the close.
	 */
	@Test
	void closeAwaitsTheReleaseOfAVoteThatIsUnderWay() {
		QuorumNode node = node(this.noThreads);
		Vote vote = vote(node);
		this.hangs = true;
		var unused = vote.acquire(COMMAND, 0);
		vote.revoke();
		node.close();
		Thread closing = new Thread(() -> node.await(Patience.EVENTUALLY.toNanos()));
		closing.start();
		Awaitility.await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
		this.answers.remove().run();
		assertThat(this.sent).containsExactly("sendAcquire", "sendRelease");
		assertThat(closing.isAlive()).as("the release is not answered").isTrue();
		answer();
		Awaitility.await().until(() -> !closing.isAlive());
		assertThat(this.memory.find("key")).isEmpty();
	}

	@Test
	void closeDoesNotAwaitANodeThatHangs() {
		QuorumNode node = node(this.noThreads);
		this.hangs = true;
		var unused = vote(node).acquire(COMMAND, 0);
		node.await(0);
	}

	/**
	 * No release would follow it.
	 */
	@Test
	void noVoteIsAskedForDuringTheClose() {
		QuorumNode node = node(this.noThreads);
		node.close();
		assertThat(vote(node).acquire(COMMAND, 0)).isCompletedExceptionally();
		assertThat(this.sent).isEmpty();
	}

	/**
	 * The thread that brings the answers of the node would wait for one of them.
	 */
	@Test
	void releaseIsNotSentOnTheThreadOfAnAnswer() {
		QuorumNode node = node(this.noThreads);
		Vote vote = vote(node);
		assertThat(vote.acquire(COMMAND, 0)).isCompletedWithValueMatching(Granted.class::isInstance);
		this.disconnected = true;
		assertThat(vote.release()).isCompletedExceptionally();
		assertThat(this.memory.find("key")).as("the vote ends with its lease").isPresent();
	}

	/**
	 * As for a lease that is longer than the quarantine of the node. The other nodes
	 * would keep their votes.
	 */
	@Test
	void nodeThatRefusesTheCommandHasAnAnswer() {
		QuorumNode node = node(this.noThreads);
		this.refusal = new IllegalArgumentException("too long");
		assertThat(vote(node).acquire(COMMAND, 0)).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isSameAs(this.refusal);
		node.await(Duration.ofHours(1).toNanos());
	}

	@Test
	void voteThatWasNeverAskedForIsNotReleased() {
		assertThat(vote(node(this.noThreads)).release()).isCompletedWithValue(false);
		assertThat(this.sent).isEmpty();
	}

}
