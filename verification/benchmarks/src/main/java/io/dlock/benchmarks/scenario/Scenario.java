package io.dlock.benchmarks.scenario;

import java.util.List;

import io.dlock.benchmarks.report.ScenarioNames;

/**
 * A question, and the measurement that answers it.
 */
public interface Scenario {

	/**
	 * The name on the command line and in the results.
	 * @return the name
	 */
	String name();

	/**
	 * Measure.
	 * @param run where, and where to put the figures
	 * @throws Exception if that was not possible
	 */
	void run(BenchmarkRun run) throws Exception;

	static List<Scenario> all() {
		return List.of(new OneProcess(ScenarioNames.UNCONTENDED_ONE, OneProcess.Keys.OWN, 1, 1),
				new OneProcess(ScenarioNames.UNCONTENDED_MANY, OneProcess.Keys.OWN, 32, 16),
				new OneProcess(ScenarioNames.ONE_KEY_THREADS, OneProcess.Keys.SHARED, 16, 16), new PollingTries(),
				new SeveralProcesses(), new HandOff(), new HeldLocks(), new KeysUsedOnce(), new Aspect(),
				new StartUp());
	}

}
