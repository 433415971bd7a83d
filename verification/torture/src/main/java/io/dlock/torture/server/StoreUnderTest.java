package io.dlock.torture.server;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.dlock.store.Quarantine;
import io.dlock.test.TcpProxy;

/**
 * A store, started for one campaign: real processes that may be paused, killed and
 * restarted, and an entrance for the administrator that no fault is on the way to.
 */
public interface StoreUnderTest extends AutoCloseable {

	/**
	 * The type of the store.
	 * @return the type
	 */
	StoreType type();

	/**
	 * Its processes that keep data.
	 * @return the processes
	 */
	List<ServerNode> nodes();

	/**
	 * The proxies before its processes, if the store has to know them.
	 * @return the proxies, none if each client can have one of its own
	 */
	default List<TcpProxy> links() {
		return List.of();
	}

	/**
	 * The disk that its files are on, if it can be filled up.
	 * @return the disk
	 */
	default Optional<LimitedDisk> disk() {
		return Optional.empty();
	}

	/**
	 * Wait until one of its processes can be broken again.
	 * @throws IOException if it does not come to that in time
	 */
	default void awaitReady() throws IOException {
	}

	/**
	 * The options that a client needs to connect.
	 * @param port the port to connect to: that of a proxy before {@link #nodes()}
	 * @return the options of the client, {@code --name=value}
	 */
	List<String> clientOptions(int port);

	/**
	 * The connections of an idle process.
	 * @return the most, or zero if the processes say how many there are
	 */
	default int idleConnections() {
		return type().idleConnections();
	}

	/**
	 * The resources that the clients left behind, or hold just now: {@code locks} held,
	 * {@code connections} of clients, {@code channels} or others that have to return to
	 * where they were.
	 * @return the figures by name
	 */
	Map<String, Long> figures();

	/**
	 * More about them, to find out the owner of something that is left.
	 * @return a line for each connection and channel
	 */
	default List<String> details() {
		return List.of();
	}

	@Override
	void close();

	/**
	 * How the processes of the store are started.
	 *
	 * @param durable whether what was acknowledged survives the death of a process, and
	 * no process is replaced by another
	 * @param breakable whether network and disk can be broken: clients and replicas go
	 * through proxies, and files whose disk may be full are on one in memory
	 * @param quarantine how long the clients get no locks when the store may have
	 * forgotten some
	 * @param environment variables to add to those of the processes
	 */
	record Mode(boolean durable, boolean breakable, Optional<Quarantine> quarantine, Map<String, String> environment) {

		/** The part of the lag that the server needs to notice that it has come to it. */
		private static final Duration NOTICED = Duration.ofSeconds(2);

		public Mode(boolean durable, Optional<Quarantine> quarantine, Map<String, String> environment) {
			this(durable, true, quarantine, environment);
		}

		/**
		 * A disk that can be full, for what must not be lost.
		 */
		Optional<LimitedDisk> disk() {
			return (this.durable && this.breakable) ? LimitedDisk.mount() : Optional.empty();
		}

		/**
		 * The arguments that a quarantine needs on a Redis with a replica.
		 */
		List<String> withReplica() {
			return this.quarantine.map((terms) -> List.of("--min-replicas-to-write", "1", "--min-replicas-max-lag",
					Long.toString(terms.maxLag().minus(NOTICED).toSeconds())))
				.orElse(List.of());
		}

	}

	/**
	 * Start a store.
	 * @param type what
	 * @param mode how
	 * @return the running store
	 */
	static StoreUnderTest start(StoreType type, Mode mode) {
		return switch (type) {
			case REDIS -> RedisStore.start(mode);
			case POSTGRES -> SqlStore.startPostgres(mode);
			case MARIADB -> SqlStore.startMariaDb(mode);
			case REDIS_CLUSTER -> RedisClusterStore.start(mode);
			case REDIS_QUORUM -> RedisQuorumStore.start(mode);
			case REDIS_SENTINEL -> RedisSentinelStore.start(mode);
		};
	}

}
