package io.dlock.torture.server;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Five Redis servers that know nothing of each other and keep nothing on disk. If the
 * clock of the store can be stepped, it is that of the first.
 */
final class RedisQuorumStore extends RedisUnderTest {

	private static final int NODES = 5;

	private RedisQuorumStore() {
		super(StoreType.REDIS_QUORUM);
	}

	static RedisQuorumStore start(Mode mode) {
		RedisQuorumStore store = new RedisQuorumStore();
		for (int i = 0; i < NODES; i++) {
			Map<String, String> environment = (i == 0) ? mode.environment() : Map.of();
			store.startNode(new Mode(false, mode.breakable(), Optional.empty(), environment),
					(port, entrance) -> List.of());
		}
		return store;
	}

	/**
	 * Each node has fences of its own.
	 */
	@Override
	public Map<String, Long> figures() {
		Map<String, Long> figures = super.figures();
		figures.computeIfPresent("fences", (name, fences) -> fences / NODES);
		return figures;
	}

}
