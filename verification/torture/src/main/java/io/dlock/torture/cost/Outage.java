package io.dlock.torture.cost;

import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.IntStream;

import io.dlock.test.TcpProxy;
import io.dlock.torture.server.PostgresPair;
import io.dlock.torture.server.ReplicatedRedis;
import io.dlock.torture.server.ServerNode;
import io.dlock.torture.server.SqlStore;
import io.dlock.torture.server.StoreUnderTest;

/**
 * The loss of servers, all of which run again when it is over.
 *
 * @param name its name in the table
 * @param infliction how it is inflicted
 */
record Outage(String name, Infliction infliction) {

	/**
	 * Servers are killed and started again at once.
	 * @param many the number of servers
	 */
	static Outage restart(int many) {
		return new Outage((many == 1) ? "restart of one server" : "restart of " + many + " servers",
				(store, link, turn) -> restart(store, turn, many));
	}

	private static void restart(StoreUnderTest store, int first, int many) {
		List<ServerNode> nodes = store.nodes();
		List<ServerNode> chosen = IntStream.range(first, first + many)
			.mapToObj((i) -> nodes.get(i % nodes.size()))
			.toList();
		chosen.forEach(ServerNode::kill);
		chosen.forEach(ServerNode::restart);
	}

	/**
	 * A master is killed, and its replica takes its place.
	 */
	static Outage failover() {
		return new Outage("failover", (store, link, turn) -> failOver((ReplicatedRedis) store, turn));
	}

	private static void failOver(ReplicatedRedis store, int turn) throws IOException {
		int master = store.master(turn);
		ServerNode node = store.nodes().get(master);
		node.kill();
		store.awaitFailover(master);
		node.restart();
		store.awaitReplicas();
	}

	/**
	 * The primary is killed, and its standby is promoted at once.
	 */
	static Outage promotion() {
		return new Outage("promotion", (store, link, turn) -> promote((SqlStore) store, link));
	}

	private static void promote(SqlStore store, TcpProxy link) throws SQLException {
		PostgresPair pair = store.pair().orElseThrow();
		pair.cutReplication();
		store.nodes().get(0).kill();
		pair.promote();
		link.redirect("127.0.0.1", store.nodes().get(0).port());
		link.cutAll();
		pair.follow();
	}

	void inflict(StoreUnderTest store, TcpProxy link, int turn) throws Exception {
		this.infliction.inflict(store, link, turn);
	}

	/**
	 * The steps of an outage.
	 */
	@FunctionalInterface
	interface Infliction {

		void inflict(StoreUnderTest store, TcpProxy link, int turn) throws Exception;

	}

}
