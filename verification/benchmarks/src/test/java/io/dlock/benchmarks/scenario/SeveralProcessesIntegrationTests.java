package io.dlock.benchmarks.scenario;

import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.benchmarks.Options;
import io.dlock.benchmarks.Servers;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.LockKind;
import io.dlock.benchmarks.report.Results;
import io.dlock.benchmarks.report.ScenarioNames;
import io.dlock.benchmarks.report.TextReport;

import static org.assertj.core.api.Assertions.assertThat;

class SeveralProcessesIntegrationTests {

	@TempDir
	private Path directory;

	@Test
	void jvmsContendForOneKey() throws Exception {
		Options options = Options.parse("--quick", "--contenders=dlock,redisson", "--store=redis");
		Results results = new Results();
		try (Servers servers = Servers.start(options.stores())) {
			new SeveralProcesses(ScenarioNames.ONE_KEY_JVMS, LockKind.EXCLUSIVE, ContenderType.DISTRIBUTED)
				.run(new BenchmarkRun(options, servers, results, this.directory));
		}
		assertThat(results.violations("dlock")).isZero();
		assertThat(new TextReport(results, Map.of()).render()).contains("one-key-jvms, redis", "  dlock ",
				"  redisson ");
	}

}
