package io.dlock.benchmarks.scenario;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
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
 * The state that scenarios share.
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

	/**
	 * The contenders that are measured in JVMs of their own. They take a while to start;
	 * in a hurry, one lock of each library has to do.
	 * @param backend the server
	 * @param suitable the contenders to choose from
	 * @return the contenders
	 */
	List<ContenderType> contendersInJvms(Backend backend, Set<ContenderType> suitable) {
		Set<ContenderType> variants = EnumSet.of(ContenderType.REDISSON_FENCED, ContenderType.REDISSON_FAIR);
		return contenders(backend, suitable).stream()
			.filter((type) -> !this.options.quick() || !variants.contains(type)
					|| !suitable.contains(ContenderType.REDISSON))
			.toList();
	}

	/**
	 * Start a JVM. In a hurry it does not optimise: for a second or two that would cost
	 * more than it brings.
	 * @param task what it does
	 * @param arguments the arguments of the task
	 * @return the JVM
	 */
	ChildProcess startChild(Child.Task task, List<String> arguments) {
		List<String> flags = this.options.pick(List.of("-Xmx1g"), List.of("-Xmx1g", "-XX:TieredStopAtLevel=1"));
		return ChildProcess.start(this.directory.resolve("children.log"), flags, task, arguments);
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
