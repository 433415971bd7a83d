package io.dlock.benchmarks.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

import io.dlock.LockHandle;
import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.DlockContender;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.process.Leases;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.ScenarioNames;
import io.dlock.benchmarks.report.Series;
import io.dlock.test.TcpProxy;

/**
 * The delay with which asynchronous requests end after their wait time, if the server
 * does not answer any more.
 */
final class Deadlines implements Scenario {

	private static final int REQUESTS = 10_000;

	private static final Duration WAIT_TIME = Duration.ofSeconds(2);

	@Override
	public String name() {
		return ScenarioNames.DEADLINES;
	}

	@Override
	public void run(BenchmarkRun run) throws Exception {
		if (!run.options().contenders().contains(ContenderType.DLOCK)) {
			return;
		}
		for (Backend backend : run.servers().backends()) {
			for (int round = 0; round < 3; round++) {
				measure(run.servers().address(backend), new Figures(run.results(),
						new Series(name(), backend.label(), ContenderType.DLOCK.label(), Metric.MAX)));
			}
		}
	}

	private static void measure(ServerAddress address, Figures figures) throws Exception {
		try (TcpProxy proxy = TcpProxy.to(address.host(), address.port());
				DlockContender contender = DlockContender.connect(address.behind(proxy.port()), Leases.DEFAULT)) {
			for (int i = 0; i < 1_000; i++) {
				contender.acquireAsync("warm-up-" + i, WAIT_TIME).get().release();
			}
			proxy.blackHole(true);
			Histogram delays = new ConcurrentHistogram(3);
			List<CompletableFuture<LockHandle>> requests = new ArrayList<>();
			for (int i = 0; i < REQUESTS; i++) {
				long deadline = System.nanoTime() + WAIT_TIME.toNanos();
				CompletableFuture<LockHandle> request = contender.acquireAsync("deadline-" + i, WAIT_TIME);
				requests.add(request
					.whenComplete((handle, failure) -> delays.recordValue(Math.max(0, System.nanoTime() - deadline))));
			}
			int granted = 0;
			for (CompletableFuture<LockHandle> request : requests) {
				granted += request.handle((handle, failure) -> (handle != null) ? 1 : 0).get(1, TimeUnit.MINUTES);
			}
			proxy.blackHole(false);
			figures.latencies(delays);
			figures.add(Metric.ERRORS, granted);
		}
	}

}
