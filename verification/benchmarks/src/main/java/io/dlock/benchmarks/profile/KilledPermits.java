package io.dlock.benchmarks.profile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

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

	private static final Duration LEASE = Duration.ofSeconds(4);

	private static final Duration BETWEEN_KILLS = Duration.ofSeconds(10);

	private static final LockRequest REQUEST = LockRequest.builder("limited")
		.lease(LEASE)
		.waitTime(Duration.ofMinutes(1))
		.build();

	private static final Duration HOLD = Duration.ofNanos(200_000);

	/** Processes that are started one after another. */
	private static final int STARTS = 1_000;

	/** Behind the ends of the permits, one for each thread: the results. */
	private static final int RESULTS = STARTS * THREADS;

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
			int processes = run(server, file, shared);
			long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds();
			System.out.printf(
					"%,d permits with a limit of %d in %d s, %d processes, all killed: the limit was reached %,d times and exceeded %,d times%n",
					shared.get(DONE), LIMIT, seconds, processes, shared.get(FULL), shared.get(VIOLATIONS));
			allAreFree(server);
		}
		finally {
			Files.delete(file);
		}
	}

	/**
	 * The places of a killed process stay: its permits are taken until their leases end.
	 */
	private static int run(RedisServer server, Path file, SharedLongs shared) throws Exception {
		List<Process> processes = new ArrayList<>();
		int started = 0;
		while (started < PROCESSES) {
			processes.add(start(server, file, started++));
		}
		while (shared.get(DONE) < CYCLES && started < STARTS) {
			TimeUnit.NANOSECONDS.sleep(BETWEEN_KILLS.toNanos());
			processes.remove(0).destroyForcibly().waitFor();
			processes.add(start(server, file, started++));
		}
		for (Process process : processes) {
			process.destroyForcibly().waitFor();
		}
		return started;
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
			System.out.printf("all %d permits were free after %,d ms, a lease is %,d ms%n", LIMIT,
					Duration.ofNanos(System.nanoTime() - begin).toMillis(), LEASE.toMillis());
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
			Map<Integer, Long> valid = valid(shared);
			shared.add(FULL, (valid.size() == LIMIT) ? 1 : 0);
			if (valid.size() > LIMIT) {
				// permits that were released and granted meanwhile are no violation
				valid.entrySet().retainAll(valid(shared).entrySet());
				shared.add(VIOLATIONS, (valid.size() > LIMIT) ? 1 : 0);
			}
			LockSupport.parkNanos(HOLD.toNanos());
			shared.set(place, 0);
		}
		shared.add(DONE, 1);
	}

	/**
	 * The ends of the permits that were valid at the end of the look at all of them.
	 */
	private static Map<Integer, Long> valid(SharedLongs shared) {
		Map<Integer, Long> ends = new HashMap<>();
		for (int i = 0; i < RESULTS; i++) {
			long end = shared.get(i);
			if (end != 0) {
				ends.put(i, end);
			}
		}
		long now = System.nanoTime();
		ends.values().removeIf((end) -> end < now);
		return ends;
	}

}
