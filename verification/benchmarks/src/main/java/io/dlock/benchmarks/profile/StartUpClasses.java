package io.dlock.benchmarks.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.dlock.benchmarks.process.Child;
import io.dlock.benchmarks.process.ChildProcess;
import io.dlock.benchmarks.report.Summary;
import io.dlock.benchmarks.startup.StartUpTimer;
import io.dlock.test.RedisServer;

/**
 * The start of an application with and without the starter, and with and without an
 * archive of its classes, which leaves out the time of loading them.
 */
public final class StartUpClasses {

	private static final int ROUNDS = 9;

	private static final List<String> PING = List.of(StartUpTimer.WITHOUT_STARTER, "--ping=true");

	private static final List<String> STARTER = List.of("--dlock.backend=redis");

	private final Path directory;

	private final RedisServer redis;

	private StartUpClasses(Path directory, RedisServer redis) {
		this.directory = directory;
		this.redis = redis;
	}

	public static void main(String[] arguments) throws Exception {
		Path directory = Files.createTempDirectory("dlock-start-up");
		try (RedisServer redis = RedisServer.start()) {
			StartUpClasses profile = new StartUpClasses(directory, redis);
			profile.compare("without an archive", List.of(), List.of());
			profile.compare("with an archive", profile.archive("ping", PING), profile.archive("starter", STARTER));
		}
		finally {
			delete(directory);
		}
	}

	/**
	 * Write the classes of an application to a file when it ends.
	 * @return the flag that uses the file
	 */
	private List<String> archive(String name, List<String> variant) throws InterruptedException {
		Path file = this.directory.resolve(name + ".jsa");
		start(List.of("-XX:ArchiveClassesAtExit=" + file), variant);
		if (!Files.exists(file)) {
			throw new IllegalStateException("The JVM has written no archive; see " + this.directory);
		}
		return List.of("-XX:SharedArchiveFile=" + file);
	}

	private void compare(String name, List<String> pingFlags, List<String> starterFlags) throws InterruptedException {
		List<Double> ping = new ArrayList<>();
		List<Double> starter = new ArrayList<>();
		for (int round = 0; round < ROUNDS; round++) {
			ping.add(start(pingFlags, PING));
			starter.add(start(starterFlags, STARTER));
		}
		System.out.printf("%s: empty + PING %s ms, with the starter %s ms%n", name,
				Rates.text("%,.0f", Summary.of(ping)), Rates.text("%,.0f", Summary.of(starter)));
	}

	private double start(List<String> flags, List<String> variant) throws InterruptedException {
		List<String> arguments = Stream
			.concat(variant.stream(), Stream.of("--spring.data.redis.host=" + this.redis.host(),
					"--spring.data.redis.port=" + this.redis.port()))
			.toList();
		try (ChildProcess child = ChildProcess.start(this.directory.resolve("log"), flags, Child.Task.START_UP,
				arguments)) {
			double millis = child.result().figure("millis");
			child.awaitEnd();
			return millis;
		}
	}

	private static void delete(Path directory) throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			for (Path file : files.toList()) {
				Files.delete(file);
			}
		}
		Files.delete(directory);
	}

}
