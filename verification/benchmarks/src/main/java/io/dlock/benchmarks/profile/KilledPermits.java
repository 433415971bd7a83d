package io.dlock.benchmarks.profile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

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
 * A million permits of one key for processes of which one is killed every few seconds.
 * The holders count each other in memory that they share: at no time may more permits be
 * valid than the limit allows. At the end all permits are free within one lease.
 */
public final class KilledPermits {

	private static final long CYCLES = 1_000_000;

	private static final int LIMIT = 3;

	private static final int PROCESSES = 3;

	private static final int THREADS = 4;

	private static final Duration LEASE = Duration.ofSeconds(2);

	private static final Duration BETWEEN_KILLS = Duration.ofSeconds(5);

	private static final LockRequest REQUEST = LockRequest.builder("limited")
		.lease(LEASE)
		.waitTime(Duration.ofMinutes(1))
		.build();

	/** Behind the ends of the permits, one for each thread: the results. */
	private static final int RESULTS = PROCESSES * THREADS;

	private static final int DONE = RESULTS;

	private static final int VIOLATIONS = RESULTS + 1;

	/** How often as many permits were valid as the limit allows. */
	private static final int FULL = RESULTS + 2;

	private KilledPermits() {
	}

	/**
	 * Run the program.
	 * @param arguments none to start a server and processes; the host, the port, the
	 * shared file and the number of the process in a process
	 */
	public static void main(String[] arguments) throws Exception {
		if (arguments.length > 0) {
			hold(arguments);
			return;
		}
		Path file = Files.createTempFile("dlock-permits", ".longs");
		try (RedisServer server = RedisServer.start()) {
			SharedLongs shared = new SharedLongs(file, RESULTS + 3);
			long begin = System.nanoTime();
			int kills = run(server, file, shared);
			long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds();
			System.out.printf(
					"%,d permits with a limit of %d in %d s, %d processes killed: the limit was reached %,d times and exceeded %,d times%n",
					shared.get(DONE), LIMIT, seconds, kills, shared.get(FULL), shared.get(VIOLATIONS));
			allAreFree(server);
		}
		finally {
			Files.delete(file);
		}
	}

	private static int run(RedisServer server, Path file, SharedLongs shared) throws Exception {
		List<Process> processes = new ArrayList<>();
		for (int i = 0; i < PROCESSES; i++) {
			processes.add(start(server, file, i));
		}
		int kills = 0;
		while (shared.get(DONE) < CYCLES) {
			int victim = kills++ % PROCESSES;
			TimeUnit.NANOSECONDS.sleep(BETWEEN_KILLS.toNanos());
			processes.get(victim).destroyForcibly().waitFor();
			for (int thread = 0; thread < THREADS; thread++) {
				shared.set(victim * THREADS + thread, 0);
			}
			processes.set(victim, start(server, file, victim));
		}
		for (Process process : processes) {
			process.destroyForcibly().waitFor();
		}
		return kills;
	}

	private static Process start(RedisServer server, Path file, int number) throws Exception {
		return OppositeOrder.start(KilledPermits.class, server.host(), Integer.toString(server.port()), file.toString(),
				Integer.toString(number));
	}

	private static void allAreFree(RedisServer server) {
		ServerAddress address = new ServerAddress(Backend.REDIS, server.host(), server.port());
		LettuceConnectionFactory factory = address.connectionFactory();
		try (LeaseLockRegistry registry = registry(factory)) {
			long begin = System.nanoTime();
			for (int i = 0; i < LIMIT; i++) {
				registry.acquirePermit(REQUEST, LIMIT);
			}
			System.out.printf("all %d permits were free after %,d ms%n", LIMIT,
					Duration.ofNanos(System.nanoTime() - begin).toMillis());
		}
		factory.destroy();
	}

	private static LeaseLockRegistry registry(LettuceConnectionFactory factory) {
		return new LeaseLockRegistry(new RedisLockStore(factory, RedisLockStoreSettings.defaults()),
				LockSettings.defaults());
	}

	private static void hold(String[] arguments) throws Exception {
		ServerAddress address = new ServerAddress(Backend.REDIS, arguments[0], Integer.parseInt(arguments[1]));
		SharedLongs shared = new SharedLongs(Path.of(arguments[2]), RESULTS + 3);
		int first = Integer.parseInt(arguments[3]) * THREADS;
		LeaseLockRegistry registry = registry(address.connectionFactory());
		for (int i = 0; i < THREADS; i++) {
			int place = first + i;
			new Thread(() -> {
				while (true) {
					hold(registry, shared, place);
				}
			}).start();
		}
	}

	private static void hold(LeaseLockRegistry registry, SharedLongs shared, int place) {
		try (LockHandle permit = registry.acquirePermit(REQUEST, LIMIT)) {
			shared.set(place, System.nanoTime() + permit.remaining().toNanos());
			int valid = 0;
			long now = System.nanoTime();
			for (int i = 0; i < RESULTS; i++) {
				valid += (shared.get(i) > now) ? 1 : 0;
			}
			shared.add(FULL, (valid == LIMIT) ? 1 : 0);
			shared.add(VIOLATIONS, (valid > LIMIT) ? 1 : 0);
			shared.set(place, 0);
		}
		shared.add(DONE, 1);
	}

}
