package io.dlock.benchmarks.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.LockKind;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.load.Exclusion;
import io.dlock.benchmarks.load.Load;
import io.dlock.benchmarks.load.LoadGenerator;
import io.dlock.benchmarks.load.Places;
import io.dlock.benchmarks.load.ReadersAndWriters;
import io.dlock.benchmarks.load.SharedExclusion;
import io.dlock.benchmarks.load.SharedWords;
import io.dlock.benchmarks.load.Window;

/**
 * Contends for one key with the threads of other JVMs. Arguments: server, contender, key,
 * shared file, threads, id of the first thread, kind of lock. With shared locks, a tenth
 * of the cycles takes the exclusive one.
 */
final class ContendTask implements ChildTask {

	@Override
	public ChildReport run(List<String> arguments, Parent parent) throws InterruptedException {
		Contender contender = ContenderType.of(arguments.get(1))
			.connect(ServerAddress.parse(arguments.get(0)), Leases.DEFAULT);
		String key = arguments.get(2);
		SharedWords words = SharedWords.in(Path.of(arguments.get(3)));
		int threads = Integer.parseInt(arguments.get(4));
		boolean shared = LockKind.valueOf(arguments.get(6)) == LockKind.READ;
		Exclusion writing = shared ? new Places(words, LockKind.WRITE) : new SharedExclusion(words);
		Exclusion reading = new Places(words, LockKind.READ);
		List<ReadersAndWriters> mixed = shared
				? Stream.generate(() -> mixed(contender, key, reading, writing)).limit(threads).toList() : List.of();
		FirstUse.of(contender);
		parent.say("ready");
		Load load = LoadGenerator.run(threads, Long.parseLong(arguments.get(5)),
				(i) -> shared ? mixed.get(i) : contender.open(key), (i) -> shared ? mixed.get(i) : writing,
				window(parent.hear("go")));
		return ChildReport.of(
				Map.of("cyclesPerSecond", load.cyclesPerSecond(), "cycles", (double) load.cycles(), "errors",
						(double) load.errors(), "violations", (double) writing.violations() + reading.violations()),
				load.waits(), load.lastError());
	}

	private static ReadersAndWriters mixed(Contender contender, String key, Exclusion reading, Exclusion writing) {
		return new ReadersAndWriters(contender.open(key, LockKind.READ), contender.open(key, LockKind.WRITE), reading,
				writing);
	}

	static Window window(List<String> words) {
		return new Window(Long.parseLong(words.get(0)), Long.parseLong(words.get(1)));
	}

}
