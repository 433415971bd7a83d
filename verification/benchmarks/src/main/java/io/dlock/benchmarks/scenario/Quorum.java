package io.dlock.benchmarks.scenario;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderLock;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.DlockContender;
import io.dlock.benchmarks.contender.LockKind;
import io.dlock.benchmarks.contender.RedissonMultiLockContender;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.process.Leases;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.ScenarioNames;
import io.dlock.benchmarks.report.Series;
import io.dlock.test.RedisServer;

/**
 * One thread locks and unlocks a key of its own: on one Redis, by the majority of five,
 * and by Redisson's lock of all five.
 */
final class Quorum implements Scenario {

	private static final int NODES = 5;

	private final OneProcess load = new OneProcess(name(), OneProcess.Keys.OWN, 1, 1,
			EnumSet.noneOf(ContenderType.class), List.of(LockKind.EXCLUSIVE));

	@Override
	public String name() {
		return ScenarioNames.QUORUM;
	}

	@Override
	public void run(BenchmarkRun run) throws InterruptedException {
		if (!run.servers().backends().contains(Backend.REDIS)) {
			return;
		}
		List<RedisServer> servers = Stream.generate(() -> RedisServer.start()).limit(NODES).toList();
		Map<String, Contender> contenders = new LinkedHashMap<>();
		try {
			List<ServerAddress> nodes = servers.stream()
				.map((server) -> new ServerAddress(Backend.REDIS, server.host(), server.port()))
				.toList();
			contenders.put(ContenderType.DLOCK.label(),
					ContenderType.DLOCK.connect(run.servers().address(Backend.REDIS), Leases.DEFAULT));
			Contender quorum = DlockContender.connectQuorum(nodes, Leases.DEFAULT);
			contenders.put(ScenarioNames.DLOCK_QUORUM, quorum);
			contenders.put(ScenarioNames.REDISSON_MULTI, new RedissonMultiLockContender(nodes, Leases.DEFAULT));
			awaitVotes(quorum);
			for (int round = 0; round < 3; round++) {
				for (Map.Entry<String, Contender> contender : contenders.entrySet()) {
					this.load.measure(run,
							new Series(name(), Backend.REDIS.label(), contender.getKey(), Metric.THROUGHPUT),
							LockKind.EXCLUSIVE, contender.getValue(), round);
				}
			}
		}
		finally {
			contenders.values().forEach(Contender::close);
			servers.forEach(RedisServer::close);
		}
	}

	/**
	 * Empty nodes do not vote for the longest lease.
	 */
	private static void awaitVotes(Contender quorum) throws InterruptedException {
		ContenderLock lock = quorum.open("first");
		lock.acquire();
		lock.release();
	}

}
