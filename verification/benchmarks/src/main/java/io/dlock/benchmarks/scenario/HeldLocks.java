package io.dlock.benchmarks.scenario;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.dlock.benchmarks.ServerStatistics;
import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.process.Child;
import io.dlock.benchmarks.process.ChildProcess;
import io.dlock.benchmarks.process.ChildReport;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.ScenarioNames;
import io.dlock.benchmarks.report.Series;
import io.dlock.test.TcpProxy;

/**
 * The cost of holding many locks and of renewing them. Only contenders take part that
 * renew by themselves, every third of the lease: a tick.
 */
final class HeldLocks implements Scenario {

	private static final Set<ContenderType> RENEWING = EnumSet.of(ContenderType.DLOCK, ContenderType.REDISSON);

	@Override
	public String name() {
		return ScenarioNames.HELD;
	}

	@Override
	public void run(BenchmarkRun run) throws InterruptedException {
		for (Backend backend : run.servers().backends()) {
			for (ContenderType type : run.contenders(backend, RENEWING)) {
				measure(run, backend, type);
			}
		}
	}

	private void measure(BenchmarkRun run, Backend backend, ContenderType type) throws InterruptedException {
		int locks = run.options().pick(10_000, 1_000);
		Duration lease = run.options().pick(Duration.ofSeconds(15), Duration.ofMillis(4500));
		Duration time = run.options().pick(Duration.ofSeconds(60), Duration.ofSeconds(6));
		ServerAddress address = run.servers().address(backend);
		ServerStatistics server = new ServerStatistics(address);
		try (TcpProxy proxy = TcpProxy.to(address.host(), address.port());
				ChildProcess child = run.startChild(Child.Task.HOLD,
						List.of(address.behind(proxy.port()).toString(), type.label(), Integer.toString(locks),
								Long.toString(lease.toMillis()), Long.toString(time.toMillis())))) {
			child.await("held");
			proxy.resetCounters();
			long commands = server.commands();
			child.tell("go");
			child.await("measured");
			double roundTrips = proxy.roundTrips();
			commands = server.commands() - commands;
			child.tell("release");
			double ticks = (double) time.toMillis() / lease.dividedBy(3).toMillis();
			record(new Figures(run.results(), new Series(name(), backend.label(), type.label(), Metric.ROUND_TRIPS)),
					child.result(), roundTrips / ticks, commands / ticks, ticks);
			run.results()
				.note("%s: %,d locks of %s in %s, lease %s, for %s".formatted(name(), locks, type.label(),
						backend.label(), lease, time));
		}
	}

	private static void record(Figures figures, ChildReport report, double roundTrips, double commands, double ticks) {
		figures.add(Metric.ROUND_TRIPS, roundTrips);
		figures.add(Metric.COMMANDS, commands);
		figures.add(Metric.CPU, report.figure("cpuMillis") / ticks);
		figures.add(Metric.OUR_THREADS, report.figure("ourThreads"));
		figures.add(Metric.THREADS, report.figure("threads"));
		figures.add(Metric.HEAP_PER_LOCK, report.figure("heapPerLock"));
		figures.add(Metric.LOST, report.figure("lost"));
	}

}
