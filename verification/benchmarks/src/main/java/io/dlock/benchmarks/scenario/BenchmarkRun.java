package io.dlock.benchmarks.scenario;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.dlock.benchmarks.Options;
import io.dlock.benchmarks.Servers;
import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.process.Child;
import io.dlock.benchmarks.process.ChildProcess;
import io.dlock.benchmarks.report.Results;

/**
 * What scenarios share.
 *
 * @param options what to measure
 * @param servers on which servers
 * @param results where the figures go
 * @param directory where files go
 */
public record BenchmarkRun(Options options, Servers servers, Results results, Path directory) {

	List<ContenderType> contenders(Backend backend, Set<ContenderType> suitable) {
		return Stream.of(ContenderType.values())
			.filter(suitable::contains)
			.filter(this.options.contenders()::contains)
			.filter((type) -> type.runsOn(backend))
			.toList();
	}

	ChildProcess startChild(Child.Task task, List<String> arguments) {
		return ChildProcess.start(this.directory.resolve("children.log"), task, arguments);
	}

	/**
	 * A new file for JVMs to share, deleted by the caller.
	 * @return the file
	 */
	Path newSharedFile() {
		try {
			return Files.createTempFile("dlock-benchmark-", ".words");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
