package io.dlock.benchmarks;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

import io.lettuce.core.RedisClient;
import net.javacrumbs.shedlock.core.LockProvider;
import org.redisson.Redisson;
import org.springframework.core.SpringVersion;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Where, when and with what something was measured.
 */
final class Environment {

	private Environment() {
	}

	static Map<String, String> describe(Servers servers, String... arguments) {
		Map<String, String> environment = new LinkedHashMap<>();
		environment.put("Command", String.join(" ", "verification/benchmarks/run", String.join(" ", arguments)).trim());
		environment.put("Date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
		environment.put("Machine",
				"%d cores, %s %s, JDK %s".formatted(Runtime.getRuntime().availableProcessors(),
						System.getProperty("os.name"), System.getProperty("os.version"),
						System.getProperty("java.vm.version")));
		environment.put("Servers",
				servers.backends()
					.stream()
					.map((backend) -> new ServerStatistics(servers.address(backend)).version())
					.collect(Collectors.joining(", ")));
		environment.put("Libraries",
				"Spring %s, Lettuce %s, Redisson %s, Spring Integration %s, ShedLock %s, lock4j 2.2.7".formatted(
						SpringVersion.getVersion(), version(RedisClient.class), version(Redisson.class),
						version(LockRegistry.class), version(LockProvider.class)));
		return environment;
	}

	/**
	 * The version in the name of the JAR: not every manifest has one.
	 */
	private static String version(Class<?> type) {
		String jar = type.getProtectionDomain().getCodeSource().getLocation().getPath();
		return jar.replaceAll(".*?-(\\d[\\w.]*?)(\\.RELEASE)?\\.jar$", "$1");
	}

}
