package io.dlock.benchmarks.profile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.RedisServer;

/**
 * The scripts per second that Redis runs for processes that wait for one key which is
 * held, each process a registry with a store of its own.
 */
public final class WaitingProcesses {

	private static final int[] PROCESSES = { 1, 10, 100, 300 };

	/** The pauses double up to that of the place in the queue. */
	private static final Duration SETTLING = Duration.ofSeconds(15);

	private static final Duration WINDOW = Duration.ofSeconds(20);

	private WaitingProcesses() {
	}

	public static void main(String[] arguments) throws Exception {
		try (RedisServer server = RedisServer.start()) {
			LettuceConnectionFactory factory = new ServerAddress(Backend.REDIS, server.host(), server.port())
				.connectionFactory();
			for (int processes : PROCESSES) {
				measure(factory, processes);
			}
			factory.destroy();
		}
	}

	private static void measure(LettuceConnectionFactory factory, int processes) throws Exception {
		LockRequest request = LockRequest.builder("waited-for").waitTime(Duration.ofMinutes(10)).build();
		List<LeaseLockRegistry> registries = new ArrayList<>();
		try {
			LeaseLockRegistry holding = registry(factory);
			registries.add(holding);
			LockHandle held = holding.acquire(request);
			List<CompletableFuture<LockHandle>> waiting = new ArrayList<>();
			for (int i = 0; i < processes; i++) {
				LeaseLockRegistry registry = registry(factory);
				registries.add(registry);
				waiting.add(registry.acquireAsync(request));
			}
			TimeUnit.NANOSECONDS.sleep(SETTLING.toNanos());
			double scripts = scriptsPerSecond(factory);
			long start = System.nanoTime();
			held.release();
			CompletableFuture
				.allOf(waiting.stream()
					.map((each) -> each.thenAccept(LockHandle::release))
					.toArray(CompletableFuture<?>[]::new))
				.join();
			System.out.printf("processes: %,5d, scripts/s: %,7.1f, all served within %,.2f s%n", processes, scripts,
					(System.nanoTime() - start) / 1e9);
		}
		finally {
			registries.parallelStream().forEach(LeaseLockRegistry::close);
		}
	}

	private static LeaseLockRegistry registry(LettuceConnectionFactory factory) {
		return new LeaseLockRegistry(new RedisLockStore(factory, RedisLockStoreSettings.defaults()),
				LockSettings.defaults());
	}

	private static double scriptsPerSecond(LettuceConnectionFactory factory) throws InterruptedException {
		try (RedisConnection connection = factory.getConnection()) {
			connection.serverCommands().resetConfigStats();
			TimeUnit.NANOSECONDS.sleep(WINDOW.toNanos());
			Properties calls = Objects.requireNonNull(connection.serverCommands().info("commandstats"));
			return calls.stringPropertyNames()
				.stream()
				.filter((name) -> name.contains("eval"))
				.mapToLong((name) -> Long.parseLong(calls.getProperty(name).replaceFirst("calls=(\\d+),.*", "$1")))
				.sum() / (double) WINDOW.toSeconds();
		}
	}

}
