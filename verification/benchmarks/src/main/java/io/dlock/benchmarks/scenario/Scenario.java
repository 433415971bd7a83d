package io.dlock.benchmarks.scenario;

import java.util.EnumSet;
import java.util.List;

import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.LockKind;
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
		return List.of(OneProcess.exclusive(ScenarioNames.UNCONTENDED_ONE, OneProcess.Keys.OWN, 1, 1),
				OneProcess.exclusive(ScenarioNames.UNCONTENDED_MANY, OneProcess.Keys.OWN, 32, 16),
				OneProcess.exclusive(ScenarioNames.ONE_KEY_THREADS, OneProcess.Keys.SHARED, 16, 16), new PollingTries(),
				new SeveralProcesses(ScenarioNames.ONE_KEY_JVMS, LockKind.EXCLUSIVE, ContenderType.DISTRIBUTED),
				new OneProcess(ScenarioNames.TWO_KEYS, OneProcess.Keys.OWN, 1, 1,
						EnumSet.of(ContenderType.DLOCK, ContenderType.REDISSON),
						List.of(LockKind.EXCLUSIVE, LockKind.TWO_KEYS)),
				new OneProcess(ScenarioNames.READERS, OneProcess.Keys.SHARED, 16, 16,
						EnumSet.of(ContenderType.DLOCK, ContenderType.REDISSON, ContenderType.REENTRANT_LOCK),
						List.of(LockKind.READ)),
				new SeveralProcesses(ScenarioNames.READERS_JVMS, LockKind.READ,
						EnumSet.of(ContenderType.DLOCK, ContenderType.REDISSON)),
				new OneProcess(ScenarioNames.PERMITS, OneProcess.Keys.SHARED, 16, 16,
						EnumSet.of(ContenderType.DLOCK, ContenderType.REDISSON, ContenderType.SEMAPHORE),
						List.of(LockKind.PERMIT)),
				new SeveralProcesses(ScenarioNames.FAIR_JVMS, LockKind.EXCLUSIVE,
						EnumSet.of(ContenderType.DLOCK_FAIR, ContenderType.REDISSON_FAIR)),
				new Quorum(), new HandOff(), new Deadlines(), new HeldLocks(), new KeysUsedOnce(), new Aspect(),
				new StartUp());
	}

}
