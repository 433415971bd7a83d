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
 * A thousand threads of ten processes wait for one fair lock. One process is killed, and
 * with it every tenth waiting thread. All others get the lock in their order.
 */
public final class FairWaiters {

	private static final int PROCESSES = 10;

	private static final int WAITING = 1000;

	/** Otherwise ten compilers take all the time of the machine. */
	private static final int WARM_UP = 5000;

	/** The threads begin one after the other. */
	private static final Duration STEP = Duration.ofMillis(10);

	/** Calls that began within this time may be served in any order. */
	private static final Duration SLACK = Duration.ofMillis(100);

	private static final LockRequest REQUEST = LockRequest.builder("fair")
		.fair(true)
		.waitTime(Duration.ofMinutes(10))
		.build();

	/** Behind the times of the grants. */
	private static final int READY = WAITING;

	private static final int BEGIN = WAITING + 1;

	private FairWaiters() {
	}

	/**
	 * Run the program.
	 * @param arguments none to start a server and processes; the host, the port, the
	 * shared file and the number of the process in a process
	 */
	public static void main(String[] arguments) throws Exception {
		if (arguments.length > 0) {
			await(arguments);
			return;
		}
		Path file = Files.createTempFile("dlock-fair", ".longs");
		try (RedisServer server = RedisServer.start()) {
			SharedLongs shared = new SharedLongs(file, WAITING + 2);
			LettuceConnectionFactory factory = new ServerAddress(Backend.REDIS, server.host(), server.port())
				.connectionFactory();
			List<Process> processes = new ArrayList<>();
			for (int i = 0; i < PROCESSES; i++) {
				processes.add(OppositeOrder.start(FairWaiters.class, server.host(), Integer.toString(server.port()),
						file.toString(), Integer.toString(i)));
			}
			try (LeaseLockRegistry registry = registry(factory)) {
				LockHandle held = registry.acquire(REQUEST);
				awaitTotal(shared, READY, READY + 1, PROCESSES);
				shared.set(BEGIN, System.nanoTime());
				TimeUnit.NANOSECONDS.sleep(STEP.multipliedBy(WAITING).plusSeconds(5).toNanos());
				processes.get(PROCESSES / 2).destroyForcibly().waitFor();
				long released = System.nanoTime();
				held.release();
				int alive = WAITING - WAITING / PROCESSES;
				awaitTotal(shared, 0, WAITING, alive);
				System.out.printf("%d of %d waiting threads got the lock in %,d ms, %d were overtaken%n", alive,
						WAITING, Duration.ofNanos(System.nanoTime() - released).toMillis(), overtaken(shared));
			}
			factory.destroy();
			processes.forEach(Process::destroyForcibly);
		}
		finally {
			Files.delete(file);
		}
	}

	/**
	 * Wait until so many numbers are set, or until their sum is that.
	 */
	private static void awaitTotal(SharedLongs shared, int from, int to, long total) throws InterruptedException {
		long sum = 0;
		while (sum < total) {
			TimeUnit.MILLISECONDS.sleep(10);
			sum = 0;
			for (int i = from; i < to; i++) {
				sum += (from == READY) ? shared.get(i) : Math.min(1, shared.get(i));
			}
		}
	}

	/**
	 * The threads that got the lock after one that began later.
	 */
	private static int overtaken(SharedLongs shared) {
		int overtaken = 0;
		int slack = (int) SLACK.dividedBy(STEP);
		long earliest = Long.MAX_VALUE;
		for (int i = WAITING - 1 - slack; i >= 0; i--) {
			long later = shared.get(i + slack);
			earliest = (later > 0) ? Math.min(earliest, later) : earliest;
			overtaken += (shared.get(i) > earliest) ? 1 : 0;
		}
		return overtaken;
	}

	private static LeaseLockRegistry registry(LettuceConnectionFactory factory) {
		return new LeaseLockRegistry(new RedisLockStore(factory, RedisLockStoreSettings.defaults()),
				LockSettings.defaults());
	}

	private static void await(String[] arguments) throws Exception {
		ServerAddress address = new ServerAddress(Backend.REDIS, arguments[0], Integer.parseInt(arguments[1]));
		SharedLongs shared = new SharedLongs(Path.of(arguments[2]), WAITING + 2);
		LeaseLockRegistry registry = registry(address.connectionFactory());
		LockRequest own = LockRequest.builder("fair " + arguments[3])
			.fair(true)
			.waitTime(Duration.ofMinutes(1))
			.build();
		for (int i = 0; i < WARM_UP; i++) {
			registry.acquire(own).close();
		}
		shared.add(READY, 1);
		while (shared.get(BEGIN) == 0) {
			TimeUnit.MILLISECONDS.sleep(1);
		}
		for (int number = Integer.parseInt(arguments[3]); number < WAITING; number += PROCESSES) {
			int place = number;
			long begin = shared.get(BEGIN) + STEP.multipliedBy(place).toNanos();
			new Thread(() -> await(registry, shared, place, begin)).start();
		}
	}

	private static void await(LeaseLockRegistry registry, SharedLongs shared, int place, long begin) {
		try {
			TimeUnit.NANOSECONDS.sleep(begin - System.nanoTime());
		}
		catch (InterruptedException ex) {
			return;
		}
		try (LockHandle lock = registry.acquire(REQUEST)) {
			shared.set(place, lock.isValid() ? System.nanoTime() : 0);
		}
	}

}
