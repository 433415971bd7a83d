package io.dlock.store.quorum;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockStore;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoredLock;

/**
 * The nodes, and how many of them decide.
 *
 * @param nodes the nodes
 * @param settings how to ask them
 * @param nanoTime the monotonic clock of this process
 * @param tokens the tokens that votes should have
 */
record Quorum(List<QuorumNode> nodes, QuorumSettings settings, LongSupplier nanoTime, ProposedTokens tokens) {

	/** The part of a lease by which clocks may differ in rate until it ends. */
	private static final int DRIFT_DIVISOR = 100;

	private static final long MARGIN_NANOS = Duration.ofMillis(2).toNanos();

	/** More than half. */
	int majority() {
		return this.nodes.size() / 2 + 1;
	}

	/**
	 * The votes that win a key: two sets of so many nodes have more nodes in common than
	 * may have a wrong clock.
	 */
	int votes() {
		return (this.nodes.size() + this.settings.wrongClocks()) / 2 + 1;
	}

	/**
	 * How long too few nodes vote, because they may have forgotten votes.
	 * @return zero if enough nodes vote, or empty if no node has a quarantine
	 */
	Optional<Duration> quarantine() {
		return this.nodes.stream().allMatch((node) -> node.store().quarantine().isEmpty()) ? Optional.empty()
				: this.nodes.stream().map(QuorumNode::silence).sorted().skip(votes() - 1L).findFirst();
	}

	long timeoutNanos() {
		return this.settings.commandTimeout().toNanos();
	}

	/**
	 * The part of a lease that this process may rely on: clocks that run at different
	 * rates are deducted.
	 */
	long reliableNanos(Duration lease) {
		return lease.toNanos() - lease.toNanos() / DRIFT_DIVISOR - MARGIN_NANOS;
	}

	long now() {
		return this.nanoTime.getAsLong();
	}

	/**
	 * The least number of answers that may decide: votes that win a key, or so many nodes
	 * without a vote that no others can win it.
	 */
	int deciding() {
		return Math.min(votes(), this.nodes.size() - votes() + 1);
	}

	/**
	 * Ask all nodes, and wait for their answers.
	 */
	<T> Round<T> ask(Function<LockStore, T> command) {
		return ask(command, timeoutNanos());
	}

	/**
	 * As {@link #ask(Function)}, with another limit.
	 */
	<T> Round<T> ask(Function<LockStore, T> command, long nanos) {
		return new Round<>(answers((node) -> node.ask(command)), this.nodes.size()).await((answers) -> false, nanos);
	}

	/**
	 * Let all nodes renew leases, and wait until the answers suffice.
	 */
	Round<List<RenewResult>> renew(List<RenewCommand> leases, Predicate<Round<List<RenewResult>>> suffice) {
		return new Round<>(answers((node) -> node.renew(leases)), deciding()).await(suffice, timeoutNanos());
	}

	private <T> List<CompletableFuture<T>> answers(Function<QuorumNode, CompletableFuture<T>> question) {
		List<CompletableFuture<T>> answers = new ArrayList<>(this.nodes.size());
		this.nodes.forEach((node) -> answers.add(question.apply(node)));
		return answers;
	}

	/**
	 * Ask all nodes, and wait for all that answer.
	 * @throws StoreException if fewer than a majority answer
	 */
	<T> Round<T> askAll(String operation, Function<LockStore, T> command) {
		Round<T> round = ask(command);
		if (this.nodes.size() - round.unknown() < majority()) {
			throw noMajority(operation, round, Effect.UNKNOWN);
		}
		return round;
	}

	/**
	 * Whether the answers to a release suffice: it is known whether a majority had the
	 * lock, and those without an answer cannot keep it from its next owner.
	 */
	boolean isSettled(Round<Boolean> release) {
		int released = release.count((done) -> done);
		return this.nodes.size() - release.unknown() >= votes()
				&& (released >= majority() || released + release.unknown() < majority());
	}

	/**
	 * The outcome of a release.
	 * @return whether a majority of the nodes had the lock
	 * @throws StoreException if too few nodes answered
	 */
	boolean released(String operation, Round<Boolean> release) {
		if (!isSettled(release)) {
			throw noMajority(operation, release, Effect.UNKNOWN);
		}
		return release.count((done) -> done) >= majority();
	}

	StoreException noMajority(String operation, Round<?> round, Effect effect) {
		Throwable cause = failure(round);
		return new StoreException(effect, false,
				"Too few lock nodes answered to " + operation + ": " + (this.nodes.size() - round.unknown()) + " of "
						+ this.nodes.size() + ", not " + String.join(", not ", silent(round)),
				cause);
	}

	/**
	 * The failure that decides whether another attempt is of use: one for good only if so
	 * many nodes have one that the others are too few.
	 */
	@Nullable Throwable failure(Round<?> round) {
		long refusing = round.answers().stream().filter((answer) -> isPermanent(answer.failure())).count();
		boolean permanent = this.nodes.size() - refusing < votes();
		for (Round.Answer<?> answer : round.answers()) {
			if (answer.failure() != null && isPermanent(answer.failure()) == permanent) {
				return answer.failure();
			}
		}
		return null;
	}

	static boolean isPermanent(@Nullable Throwable failure) {
		return failure instanceof StoreException ex && ex.isPermanent();
	}

	/**
	 * Whether a command that failed has had no effect.
	 */
	static boolean hadNoEffect(@Nullable Throwable failure) {
		return failure instanceof StoreException ex && ex.effect() == Effect.NONE;
	}

	/**
	 * The nodes that have not answered, and why.
	 */
	List<String> silent(Round<?> round) {
		List<String> silent = new ArrayList<>();
		for (int i = 0; i < this.nodes.size(); i++) {
			Round.Answer<?> answer = round.answer(i);
			if (answer == null || answer.value() == null) {
				Throwable failure = (answer != null) ? answer.failure() : null;
				silent.add(this.nodes.get(i).store().describe() + ": "
						+ ((failure != null) ? failure.getMessage() : "no answer in time"));
			}
		}
		return silent;
	}

	/**
	 * The lock whose token so many nodes know that it has won.
	 * @param locks the locks of one key on different nodes
	 * @param unknown the number of nodes that may know the same one
	 * @return the lock that most nodes know, or {@code null} if they are too few
	 */
	@Nullable StoredLock holder(List<StoredLock> locks, int unknown) {
		Map<List<Object>, Integer> counts = new HashMap<>();
		StoredLock known = null;
		int most = 0;
		for (StoredLock lock : locks) {
			// nodes with one last token mint one next one for several candidates
			int count = counts.merge(List.of(lock.token(), lock.holder()), 1, Integer::sum);
			if (count > most) {
				most = count;
				known = lock;
			}
		}
		return (known != null && most + unknown >= votes()) ? shown(known) : null;
	}

	/**
	 * Each node has a beginning of its own. The token is the same on all of them, and the
	 * time of one of them unless a clock was ahead.
	 */
	private StoredLock shown(StoredLock lock) {
		Instant minted = Instant.EPOCH.plus(lock.token(), ChronoUnit.MICROS);
		Duration apart = Duration.between(minted, lock.since()).abs();
		Instant since = (apart.compareTo(this.settings.commandTimeout()) < 0) ? minted : lock.since();
		return new StoredLock(lock.storageKey(), lock.holder(), lock.reason(), since, lock.until(), lock.token(),
				lock.age(), lock.kept(), lock.member());
	}

}
