package io.dlock.benchmarks.scenario;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.process.Child;
import io.dlock.benchmarks.process.ChildProcess;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.ScenarioNames;
import io.dlock.benchmarks.report.Series;
import io.dlock.benchmarks.startup.StartUpTimer;

/**
 * How long an empty application that uses Redis takes to start.
 */
final class StartUp implements Scenario {

	@Override
	public String name() {
		return ScenarioNames.START_UP;
	}

	@Override
	public void run(BenchmarkRun run) throws InterruptedException {
		if (!run.servers().backends().contains(Backend.REDIS)) {
			return;
		}
		Map<String, List<String>> variants = new LinkedHashMap<>();
		variants.put("empty", List.of(StartUpTimer.WITHOUT_STARTER));
		variants.put("empty + PING", List.of(StartUpTimer.WITHOUT_STARTER, "--ping=true"));
		variants.put("with the starter", List.of("--dlock.backend=redis"));
		ServerAddress redis = run.servers().address(Backend.REDIS);
		for (int round = 0; round < run.options().pick(9, 2); round++) {
			for (Map.Entry<String, List<String>> variant : variants.entrySet()) {
				List<String> arguments = Stream
					.concat(variant.getValue().stream(),
							Stream.of("--spring.data.redis.host=" + redis.host(),
									"--spring.data.redis.port=" + redis.port()))
					.toList();
				try (ChildProcess child = run.startChild(Child.Task.START_UP, arguments)) {
					run.results()
						.add(new Series(name(), "redis", variant.getKey(), Metric.MILLIS),
								child.result().figure("millis"));
				}
			}
		}
	}

}
