package io.dlock.torture.server;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.dlock.test.TcpProxy;

/**
 * Redis servers of which some may be replicas. These lag behind their masters, as
 * replicas do, so that a failover may lose what was acknowledged.
 */
public abstract class ReplicatedRedis extends RedisUnderTest {

	/** An election that fails is repeated after 10 to 16 seconds. */
	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration INTERVAL = Duration.ofMillis(50);

	private final boolean failsOver;

	ReplicatedRedis(StoreType type, Mode mode) {
		super(type);
		this.failsOver = !mode.durable();
	}

	/**
	 * Whether a replica takes the place of a master that is away.
	 */
	final boolean failsOver() {
		return this.failsOver;
	}

	/**
	 * None if a broken link is a reason to replace a master.
	 */
	@Override
	public List<TcpProxy> links() {
		return this.failsOver ? List.of() : super.links();
	}

	/**
	 * The replica of a master.
	 * @param master the index of the master
	 * @return its index
	 */
	abstract int replica(int master);

	/**
	 * Wait until a master is replaced.
	 * @param master its index
	 * @throws IOException if it is not in time
	 */
	public abstract void awaitFailover(int master) throws IOException;

	/**
	 * Let a master and its replica change places.
	 * @param master the index of the master
	 * @throws IOException if that is refused
	 */
	public abstract void switchOver(int master) throws IOException;

	/**
	 * Wait until each replica has what its master has, and all know it.
	 * @throws IOException if it does not come to that in time
	 */
	public abstract void awaitReplicas() throws IOException;

	/**
	 * Let the replica get nothing more from its master, without being told so.
	 * @param master the index of the master
	 * @throws IOException if it is connected to no replica
	 */
	public void holdReplicationBack(int master) throws IOException {
		if (link(master).silence("PSYNC") == 0) {
			throw new IOException("There is no replica");
		}
	}

	/**
	 * Let the replica get what was held back.
	 * @param master the index of the master
	 */
	public void deliverReplication(int master) {
		link(master).heal();
	}

	/**
	 * Lose what was held back.
	 * @param master the index of the master
	 */
	public void loseReplication(int master) {
		link(master).cutAll();
		link(master).heal();
	}

	final boolean isReplicating(int master) throws IOException {
		String replica = processes().admin(replica(master)).text("INFO", "replication");
		return replica.contains("role:slave") && replica.contains("master_link_status:up")
				&& !processes().admin(master).text("INFO", "replication").contains("good_slaves:0");
	}

	static boolean holdsWithin(Duration limit, Condition condition) throws IOException {
		long end = System.nanoTime() + limit.toNanos();
		boolean holds = condition.holds();
		while (!holds && System.nanoTime() < end) {
			LockSupport.parkNanos(INTERVAL.toNanos());
			holds = condition.holds();
		}
		return holds;
	}

	static void await(Condition condition, String failure) throws IOException {
		long end = System.nanoTime() + PATIENCE.toNanos();
		IOException reason = new IOException(failure);
		while (System.nanoTime() < end) {
			try {
				if (condition.holds()) {
					return;
				}
			}
			catch (IOException ex) {
				reason = ex;
			}
			LockSupport.parkNanos(INTERVAL.toNanos());
		}
		throw new IOException(failure, reason);
	}

	/**
	 * Something to wait for.
	 */
	@FunctionalInterface
	interface Condition {

		boolean holds() throws IOException;

	}

}
