package io.dlock.benchmarks.profile;

import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.benchmarks.Servers;
import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderLock;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;

/**
 * The uncontended cycle on Redis with parts left out: raw commands, scripts that do
 * nothing with as many arguments as ours, the store, and the registry.
 */
public final class RedisSteps {

	private static final int CYCLES = 8000;

	private static final int ROUNDS = 10;

	private static final Duration LEASE = Duration.ofSeconds(30);

	private RedisSteps() {
	}

	public static void main(String[] arguments) throws Exception {
		try (Servers servers = Servers.start(EnumSet.of(Backend.REDIS))) {
			ServerAddress address = servers.address(Backend.REDIS);
			RedisClient client = RedisClient.create(address.redisUri());
			RedisLockStore store = new RedisLockStore(address.connectionFactory(), RedisLockStoreSettings.defaults());
			try (Contender raw = ContenderType.RAW.connect(address, LEASE);
					LeaseLockRegistry registry = new LeaseLockRegistry(store, LockSettings.defaults())) {
				ContenderLock lock = raw.open("steps");
				Map<String, Cycle> cycles = new LinkedHashMap<>();
				cycles.put("raw commands", () -> {
					lock.acquire();
					lock.release();
				});
				cycles.put("scripts that do nothing", doingNothing(client.connect().sync()));
				cycles.put("store", () -> {
					store.acquire(new AcquireCommand("steps", "0123456789abcdef0123456789abcdef", LEASE, "me", ""));
					store.release("steps", "0123456789abcdef0123456789abcdef");
				});
				LockRequest request = LockRequest.of("steps");
				cycles.put("registry", () -> registry.acquire(request).release());
				report(cycles);
			}
			store.close();
			client.shutdown();
		}
	}

	private static Cycle doingNothing(RedisCommands<String, String> redis) {
		String acquire = redis.scriptLoad("return {1, '1795272628837542'}");
		String release = redis.scriptLoad("return 1");
		String[] keys = { "dlock:{b017}:lock:steps", "dlock:{b017}:fence" };
		return () -> {
			redis.evalsha(acquire, ScriptOutputType.MULTI, keys, "0123456789abcdef0123456789abcdef", "30000", "me", "");
			redis.evalsha(release, ScriptOutputType.INTEGER, new String[] { keys[0] },
					"0123456789abcdef0123456789abcdef");
		};
	}

	/**
	 * The first two rounds are for warming up.
	 */
	private static void report(Map<String, Cycle> cycles) throws InterruptedException {
		Map<String, double[]> medians = new LinkedHashMap<>();
		for (int round = -2; round < ROUNDS; round++) {
			for (Map.Entry<String, Cycle> cycle : cycles.entrySet()) {
				double median = median(cycle.getValue());
				if (round >= 0) {
					medians.computeIfAbsent(cycle.getKey(), (name) -> new double[ROUNDS])[round] = median;
				}
			}
		}
		medians.forEach((name, values) -> {
			Arrays.sort(values);
			System.out.printf("%-24s p50 %.0f µs (%.0f–%.0f)%n", name, values[ROUNDS / 2], values[0],
					values[ROUNDS - 1]);
		});
	}

	private static double median(Cycle cycle) throws InterruptedException {
		long[] nanos = new long[CYCLES];
		for (int i = 0; i < CYCLES; i++) {
			long start = System.nanoTime();
			cycle.run();
			nanos[i] = System.nanoTime() - start;
		}
		Arrays.sort(nanos);
		return nanos[CYCLES / 2] / 1e3;
	}

	/**
	 * An acquire and a release.
	 */
	private interface Cycle {

		void run() throws InterruptedException;

	}

}
