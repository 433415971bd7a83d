package io.dlock.benchmarks.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.load.Exclusion;
import io.dlock.benchmarks.load.Load;
import io.dlock.benchmarks.load.LoadGenerator;
import io.dlock.benchmarks.load.SharedExclusion;
import io.dlock.benchmarks.load.SharedWords;
import io.dlock.benchmarks.load.Window;

/**
 * Contends for one key with the threads of other JVMs. Arguments: server, contender, key,
 * shared file, threads, id of the first thread.
 */
final class ContendTask implements ChildTask {

	@Override
	public ChildReport run(List<String> arguments, Parent parent) throws InterruptedException {
		Contender contender = ContenderType.of(arguments.get(1))
			.connect(ServerAddress.parse(arguments.get(0)), Leases.DEFAULT);
		Exclusion exclusion = new SharedExclusion(SharedWords.in(Path.of(arguments.get(3))));
		FirstUse.of(contender);
		parent.say("ready");
		Load load = LoadGenerator.run(Integer.parseInt(arguments.get(4)), Long.parseLong(arguments.get(5)),
				(i) -> contender.open(arguments.get(2)), (i) -> exclusion, window(parent.hear("go")));
		return ChildReport.of(
				Map.of("cyclesPerSecond", load.cyclesPerSecond(), "cycles", (double) load.cycles(), "errors",
						(double) load.errors(), "violations", (double) exclusion.violations()),
				load.waits(), load.lastError());
	}

	static Window window(List<String> words) {
		return new Window(Long.parseLong(words.get(0)), Long.parseLong(words.get(1)));
	}

}
