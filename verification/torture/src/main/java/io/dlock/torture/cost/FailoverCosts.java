package io.dlock.torture.cost;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.store.Quarantine;
import io.dlock.test.TcpProxy;
import io.dlock.torture.client.DlockContender;
import io.dlock.torture.server.StoreType;
import io.dlock.torture.server.StoreUnderTest;

/**
 * Prints the costs of each topology as a table in Markdown: the time of a cycle beside
 * that of one server in the same rounds, and the time without locks after an outage.
 */
public final class FailoverCosts {

	private static final int TURNS = 3;

	/** A quarantine allows no lease longer than {@link Topology#LEASE}. */
	private static final Duration HELD_LEASE = Duration.ofSeconds(10);

	/** So many that some are on each master of a Cluster. */
	private static final int HELD = 10;

	private static final int GRANTS = 50;

	private static final List<Topology> REDIS = List.of(
			Topology.of(StoreType.REDIS, "one Redis without persistence", Outage.restart(1)),
			Topology.of(StoreType.REDIS, "one Redis without persistence, quarantine", Outage.restart(1))
				.withQuarantine(Duration.ZERO),
			Topology.of(StoreType.REDIS, "one Redis, `appendfsync always`", Outage.restart(1)).withDurability(),
			Topology.of(StoreType.REDIS_SENTINEL, "Redis Sentinel", Outage.failover()),
			Topology.of(StoreType.REDIS_SENTINEL, "Redis Sentinel, quarantine", Outage.failover())
				.withQuarantine(Topology.MAX_LAG),
			Topology.of(StoreType.REDIS_CLUSTER, "Redis Cluster", Outage.failover()),
			Topology.of(StoreType.REDIS_CLUSTER, "Redis Cluster, quarantine", Outage.failover())
				.withQuarantine(Topology.MAX_LAG),
			Topology.of(StoreType.REDIS_QUORUM, "quorum of five Redis servers", Outage.restart(1), Outage.restart(3))
				.withQuarantine(Duration.ZERO));

	private static final List<Topology> DATABASES = List.of(
			Topology.of(StoreType.POSTGRES, "one PostgreSQL", Outage.restart(1)).withDurability(),
			Topology.of(StoreType.POSTGRES, "PostgreSQL with an asynchronous standby", Outage.promotion()),
			Topology.of(StoreType.POSTGRES, "PostgreSQL with an asynchronous standby, quarantine", Outage.promotion())
				.withQuarantine(Duration.ZERO),
			Topology.of(StoreType.MARIADB, "one MariaDB", Outage.restart(1)).withDurability());

	private FailoverCosts() {
	}

	public static void main(String[] args) throws Exception {
		System.out.println("""
				| store | cycle | × one Redis or PostgreSQL | outage | no new locks for | held locks kept |
				|---|---|---|---|---|---|""");
		compare(REDIS);
		compare(DATABASES);
		System.exit(0);
	}

	/**
	 * The first is also measured against another one of its kind, which shows how much of
	 * a ratio is chance.
	 */
	private static void compare(List<Topology> topologies) throws Exception {
		Topology first = topologies.get(0);
		try (StoreUnderTest reference = first.start(); DlockContender contender = first.connect(reference)) {
			for (Topology topology : topologies) {
				try (StoreUnderTest store = topology.start()) {
					String cycles = cycles(contender.registry(), topology, store);
					for (Outage outage : topology.outages()) {
						System.out.println("| %s | %s | %s |".formatted(topology.name(), cycles,
								outages(topology, store, outage)));
					}
				}
			}
		}
	}

	private static String cycles(LockRegistry reference, Topology topology, StoreUnderTest store) {
		try (DlockContender contender = topology.connect(store)) {
			return Cycles.compare(reference, contender.registry());
		}
	}

	/**
	 * Clients of a database find a promoted standby behind a proxy, as behind a virtual
	 * address.
	 */
	private static String outages(Topology topology, StoreUnderTest store, Outage outage) throws Exception {
		List<Double> seconds = new ArrayList<>();
		long kept = 0;
		try (TcpProxy link = TcpProxy.to("127.0.0.1", store.nodes().get(0).port());
				DlockContender contender = topology.connect(store, link.port());
				Grants grants = Grants.start(contender.registry())) {
			for (int turn = 0; turn < TURNS; turn++) {
				awaitReady(topology, store);
				List<LockHandle> held = hold(contender.registry(), topology);
				grants.awaitMore(GRANTS);
				grants.forgetGaps();
				outage.inflict(store, link, turn);
				grants.awaitMore(GRANTS);
				seconds.add(grants.longestGap().toNanos() / 1e9);
				kept += held.stream().filter(FailoverCosts::isKept).count();
			}
		}
		return "%s | %s | %d of %d".formatted(outage.name(), Spread.of(seconds).text("%.2f s"), kept, TURNS * HELD);
	}

	/**
	 * The servers can lose another one, and all nodes of a quorum vote again.
	 */
	private static void awaitReady(Topology topology, StoreUnderTest store) throws IOException {
		store.awaitReady();
		topology.quarantine().ifPresent((terms) -> LockSupport.parkNanos(terms.longestLease().toNanos()));
	}

	private static List<LockHandle> hold(LockRegistry registry, Topology topology) {
		Duration lease = topology.quarantine().map(Quarantine::longestLease).orElse(HELD_LEASE);
		return IntStream.range(0, HELD)
			.mapToObj((i) -> registry
				.acquire(LockRequest.builder("held-" + i).lease(lease).waitTime(Topology.PATIENCE).build()))
			.toList();
	}

	private static boolean isKept(LockHandle handle) {
		boolean kept = isRenewed(handle);
		try {
			handle.release();
			return kept;
		}
		catch (LockLostException ex) {
			return false;
		}
	}

	/**
	 * The store is asked: a lock that it has forgotten is valid until its next renewal.
	 */
	private static boolean isRenewed(LockHandle handle) {
		try {
			handle.renewNow();
			return true;
		}
		catch (LockLostException ex) {
			return false;
		}
		catch (LockStoreException ex) {
			return handle.isValid();
		}
	}

}
