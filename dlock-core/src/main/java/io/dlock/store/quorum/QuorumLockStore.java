package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore;
import io.dlock.store.Quarantine;
import io.dlock.store.QuorumCapable;
import io.dlock.store.ReleaseResult;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoredLock;

/**
 * Locks by the votes of several independent stores, as in Redlock: a lock is held while
 * more than half of the nodes say so, or more if clocks may be wrong. Locks stay
 * exclusive and available while fewer than half of the nodes are down, hang or have lost
 * all their data. A node whose clock jumps forward forgets a lock too early:
 * {@link QuorumSettings#wrongClocks()} says how many may do that.
 * <p>
 * The nodes must not share data: no replicas of each other, no two addresses of one
 * server. A node must not forget a lock that it has granted and then grant it again: a
 * node that may lose data needs a {@linkplain Quarantine quarantine}, during which it
 * does not vote. The {@linkplain Quarantine#longestLease() longest lease} of the
 * quarantine is that of all locks; its lag is zero.
 * <p>
 * There is no queue: a process that waits polls, and no request is fair. There are no
 * members, hence no shared locks and no permits.
 *
 * @since 0.1
 */
public final class QuorumLockStore implements LockStore {

	private static final Log logger = LogFactory.getLog(QuorumLockStore.class);

	private static final long FORGET_PERIOD = Duration.ofSeconds(1).toNanos();

	private final Quorum quorum;

	private final QuorumInspection inspection;

	private final List<NodeThreads> threads;

	private final Map<Owner, Ballot> ballots = new ConcurrentHashMap<>();

	private final AtomicLong numbers = new AtomicLong();

	private final AtomicLong forgotten;

	/**
	 * Create a store.
	 * @param nodes the nodes, an odd number of at least three, which the store closes
	 * @param settings how to use them
	 * @throws IllegalArgumentException if there are too few nodes, an even number of
	 * them, or one that is not {@link QuorumCapable}
	 */
	public QuorumLockStore(List<? extends LockStore> nodes, QuorumSettings settings) {
		this(nodes, settings, System::nanoTime, NodeThreads.create(nodes.size()));
	}

	private QuorumLockStore(List<? extends LockStore> nodes, QuorumSettings settings, LongSupplier nanoTime,
			List<NodeThreads> threads) {
		this(nodes, settings, nanoTime, threads, threads::get);
	}

	/**
	 * Create a store with a clock and threads of the caller.
	 */
	QuorumLockStore(List<? extends LockStore> nodes, QuorumSettings settings, LongSupplier nanoTime,
			List<NodeThreads> owned, IntFunction<Executor> threads) {
		QuorumRequirements.check(nodes, settings);
		List<QuorumNode> voters = new ArrayList<>();
		for (int i = 0; i < nodes.size(); i++) {
			voters.add(new QuorumNode(nodes.get(i), threads.apply(i), settings));
		}
		this.quorum = new Quorum(List.copyOf(voters), settings, nanoTime, new ProposedTokens());
		this.inspection = new QuorumInspection(this.quorum);
		this.threads = owned;
		this.forgotten = new AtomicLong(this.quorum.now());
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		QuorumRequirements.check(command);
		forgetOutdated(FORGET_PERIOD);
		long deadline = System.nanoTime() + this.quorum.timeoutNanos();
		// with little time left slow nodes would look like silent ones
		long lastAttempt = deadline - this.quorum.timeoutNanos() / 2;
		Owner releasing = (command.releasing() != null) ? new Owner(command.key(), command.releasing()) : null;
		Ballot other = (releasing != null) ? this.ballots.get(releasing) : null;
		Owner owner = new Owner(command.key(), command.owner());
		ElectionBackOff backOff = new ElectionBackOff();
		while (true) {
			long begin = System.nanoTime();
			AcquireResult result = attempt(owner, command, other, deadline);
			if (releasing != null && other != null) {
				// not after a failure, after which the caller releases it again
				this.ballots.remove(releasing, other);
			}
			if (result != null) {
				return result;
			}
			other = null;
			long now = System.nanoTime();
			long left = lastAttempt - now;
			if (left > 0) {
				LockSupport.parkNanos(this, backOff.next(now - begin, left));
			}
			if (left <= 0 || Thread.currentThread().isInterrupted()) {
				throw new StoreCongestedException(this.ballots.containsKey(owner) ? Effect.UNKNOWN : Effect.NONE,
						"The votes for lock '%s' were split among candidates again and again"
							.formatted(StorageKey.of(command.key())),
						null);
			}
		}
	}

	private @Nullable AcquireResult attempt(Owner owner, AcquireCommand command, @Nullable Ballot other,
			long deadline) {
		Ballot known = this.ballots.get(owner);
		boolean repeated = known != null && known.isHeld() && !known.isOver(this.quorum.now());
		Ballot ballot = (known != null && repeated) ? known
				: new Ballot(command, this.numbers.incrementAndGet(), this.quorum.nodes(), known);
		this.ballots.put(owner, ballot);
		Election election = new Election(this.quorum, ballot, command, deadline);
		boolean granted = false;
		boolean unknown = false;
		try {
			AcquireResult result = election.hold(other);
			granted = result instanceof Granted;
			return result;
		}
		catch (StoreException ex) {
			unknown = ex.effect() == Effect.UNKNOWN;
			throw ex;
		}
		finally {
			if (unknown || election.leavesVotes()) {
				lost(owner, ballot, election.revocation(), command.lease());
			}
			else if (!granted) {
				this.ballots.remove(owner, ballot);
			}
		}
	}

	/**
	 * Keep a ballot until its votes are released: they would be in the way of others, and
	 * of the next attempt of the owner, which releases them again. A caller that gives up
	 * releases it as well.
	 */
	private void lost(Owner owner, Ballot ballot, CompletableFuture<?> revocation, Duration lease) {
		ballot.lost(this.quorum.now() + this.quorum.timeoutNanos() + lease.toNanos());
		var unused = revocation.thenRun(() -> this.ballots.remove(owner, ballot));
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		forgetOutdated(FORGET_PERIOD);
		long now = this.quorum.now();
		List<RenewResult> results = new ArrayList<>(leases.size());
		List<Integer> places = new ArrayList<>();
		List<Ballot> held = new ArrayList<>();
		List<RenewCommand> renewable = new ArrayList<>();
		for (RenewCommand lease : leases) {
			Ballot ballot = this.ballots.get(new Owner(lease.key(), lease.owner()));
			if (ballot == null || !ballot.isHeld() || ballot.isOver(now)) {
				results.add(RenewResult.REFUSED);
				continue;
			}
			results.add(RenewResult.UNKNOWN);
			places.add(results.size() - 1);
			held.add(ballot);
			renewable.add(lease);
		}
		if (!renewable.isEmpty()) {
			List<RenewResult> renewed = new Renewal(this.quorum, held, renewable).results();
			for (int i = 0; i < places.size(); i++) {
				results.set(places.get(i), renewed.get(i));
			}
		}
		return results;
	}

	@Override
	public boolean release(String key, String owner) {
		return release(new ReleaseCommand(key, owner), System.nanoTime() + this.quorum.timeoutNanos()).get();
	}

	/**
	 * All releases are sent before an answer is awaited: nodes that hang cost one command
	 * timeout, and not one for each key.
	 */
	@Override
	public List<ReleaseResult> releaseAll(List<ReleaseCommand> releases) {
		long deadline = System.nanoTime() + this.quorum.timeoutNanos();
		List<Supplier<Boolean>> sent = new ArrayList<>(releases.size());
		releases.forEach((release) -> sent.add(release(release, deadline)));
		return sent.stream().map(QuorumLockStore::result).toList();
	}

	private static ReleaseResult result(Supplier<Boolean> sent) {
		try {
			return sent.get() ? ReleaseResult.RELEASED : ReleaseResult.REFUSED;
		}
		catch (StoreException ex) {
			return ReleaseResult.UNKNOWN;
		}
	}

	/**
	 * Send a release. A lease that is over by the clock of this process is not released,
	 * but its votes are given up.
	 * @return waits for the answer
	 */
	private Supplier<Boolean> release(ReleaseCommand release, long deadline) {
		Owner releaser = new Owner(release.key(), release.owner());
		Ballot ballot = this.ballots.get(releaser);
		if (ballot == null) {
			return () -> false;
		}
		boolean outdated = ballot.isOutdated(this.quorum.now());
		Round<Boolean> round = new Round<>(ballot.release(), this.quorum.deciding());
		return () -> {
			boolean released = this.quorum.released("release a lock",
					round.await(this.quorum::isSettled, deadline - System.nanoTime()));
			this.ballots.remove(releaser, ballot);
			return released && !outdated;
		};
	}

	@Override
	public Optional<StoredLock> find(String key) {
		return this.inspection.findStored(StorageKey.of(key));
	}

	@Override
	public StoreInspection inspection() {
		return this.inspection;
	}

	/**
	 * Check that a majority of the nodes can be used, and that no two of them are one.
	 */
	@Override
	public void verify() {
		Round<String> round = this.quorum.ask((store) -> {
			store.verify();
			return ((QuorumCapable) store).serverId();
		});
		Set<String> servers = new HashSet<>();
		for (Round.Answer<String> answer : round.answers()) {
			if (answer.failure() instanceof StoreMisconfiguredException ex) {
				throw ex;
			}
			if (answer.value() != null && !servers.add(answer.value())) {
				throw new StoreMisconfiguredException(
						"Two nodes of the quorum are one server: "
								+ this.quorum.nodes().get(answer.node()).store().describe() + " is there twice.",
						"Name an odd number of servers that are independent of each other.", null);
			}
		}
		if (servers.size() < this.quorum.votes()) {
			throw this.quorum.noMajority("the start-up check", round, Effect.NONE);
		}
		this.quorum.silent(round)
			.forEach((node) -> logger.warn("A lock node does not answer and cannot vote: " + node));
	}

	@Override
	public Optional<Duration> quarantine() {
		return this.quorum.quarantine();
	}

	/**
	 * Forget the ballots of leases that are over: a lock that was lost is not released.
	 */
	private void forgetOutdated(long period) {
		long now = this.quorum.now();
		long last = this.forgotten.get();
		if (now - last >= period && this.forgotten.compareAndSet(last, now)) {
			this.ballots.values().removeIf((ballot) -> ballot.isOutdated(now));
		}
	}

	/**
	 * Forget the ballots of leases that are over, and let the nodes remove what they can.
	 */
	@Override
	public boolean sweep() {
		forgetOutdated(0);
		Round<Boolean> round = this.quorum.ask(LockStore::sweep);
		return round.count((more) -> more) > 0;
	}

	/**
	 * The state of each node.
	 * @return the states, in the order of the nodes
	 */
	public List<QuorumNodeStatus> nodes() {
		return this.quorum.nodes().stream().map(QuorumNode::status).toList();
	}

	int ballots() {
		return this.ballots.size();
	}

	@Override
	public String describe() {
		return this.quorum.nodes()
			.stream()
			.map((node) -> node.store().describe())
			.collect(Collectors.joining(", ", "quorum of " + this.quorum.nodes().size() + " (", ")"));
	}

	@Override
	public void close() {
		this.quorum.nodes().forEach(QuorumNode::close);
		this.threads.forEach(NodeThreads::close);
		long end = System.nanoTime() + this.quorum.timeoutNanos();
		this.threads.forEach((each) -> each.await(end - System.nanoTime()));
		this.quorum.nodes().forEach((node) -> node.await(end - System.nanoTime()));
		this.ballots.clear();
		for (QuorumNode node : this.quorum.nodes()) {
			try {
				node.store().close();
			}
			catch (RuntimeException ex) {
				logger.debug("Could not close " + node.store().describe(), ex);
			}
		}
	}

	/**
	 * An owner of a key.
	 *
	 * @param key the key
	 * @param owner the owner
	 */
	private record Owner(String key, String owner) {

	}

}
