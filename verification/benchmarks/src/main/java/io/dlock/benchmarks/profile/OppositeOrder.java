package io.dlock.benchmarks.profile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.RedisServer;

/**
 * Two processes that lock the same two keys a million times, each in the opposite order
 * of the other. A deadlock would end a process after the wait time.
 */
public final class OppositeOrder {

	private static final int CYCLES = 500_000;

	private static final int THREADS = 2;

	private static final Duration WAIT_TIME = Duration.ofMinutes(1);

	private OppositeOrder() {
	}

	/**
	 * Run the program.
	 * @param arguments none to start a server and two processes; the host, the port and
	 * the keys in a process
	 */
	public static void main(String[] arguments) throws Exception {
		if (arguments.length > 0) {
			lock(new ServerAddress(Backend.REDIS, arguments[0], Integer.parseInt(arguments[1])),
					List.of(arguments[2], arguments[3]));
			return;
		}
		try (RedisServer server = RedisServer.start()) {
			long begin = System.nanoTime();
			List<Process> processes = List.of(start(server, "a", "b"), start(server, "b", "a"));
			boolean done = true;
			for (Process process : processes) {
				done &= process.waitFor() == 0;
			}
			System.out.printf("%,d cycles of two processes %s in %d s%n", 2 * CYCLES,
					done ? "ended" : "did not all end", Duration.ofNanos(System.nanoTime() - begin).toSeconds());
		}
	}

	private static Process start(RedisServer server, String first, String second) throws Exception {
		return start(OppositeOrder.class, server.host(), Integer.toString(server.port()), first, second);
	}

	static Process start(Class<?> program, String... arguments) throws Exception {
		List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java"), "-cp",
				System.getProperty("java.class.path"), program.getName()));
		command.addAll(List.of(arguments));
		return new ProcessBuilder(command).inheritIO().start();
	}

	private static void lock(ServerAddress server, List<String> keys) throws Exception {
		LettuceConnectionFactory factory = server.connectionFactory();
		LockRequest request = LockRequest.builder("template").waitTime(WAIT_TIME).build();
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try (LeaseLockRegistry registry = new LeaseLockRegistry(
				new RedisLockStore(factory, RedisLockStoreSettings.defaults()), LockSettings.defaults())) {
			for (Future<?> thread : threads
				.invokeAll(Collections.nCopies(THREADS, Executors.callable(() -> cycle(registry, request, keys))))) {
				thread.get();
			}
		}
		finally {
			threads.shutdown();
		}
		factory.destroy();
	}

	private static void cycle(LeaseLockRegistry registry, LockRequest request, List<String> keys) {
		for (int i = 0; i < CYCLES / THREADS; i++) {
			registry.acquireAll(request, keys).close();
		}
	}

}
