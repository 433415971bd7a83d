package io.dlock.benchmarks.profile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.report.Summary;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.redis.RedisAcknowledgement;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.RedisServer;

/**
 * Cycles per second on a Redis with a replica, with and without its acknowledgement.
 */
public final class AcknowledgeCosts {

	private static final Duration ROUND = Duration.ofSeconds(1);

	private static final int ROUNDS = 10;

	private static final RedisAcknowledgement BY_REPLICA = RedisAcknowledgement.byReplicas(1, Duration.ofMillis(250));

	private AcknowledgeCosts() {
	}

	public static void main(String[] arguments) throws Exception {
		try (RedisServer master = RedisServer.start();
				RedisServer replica = RedisServer.start("--replicaof", master.host(),
						Integer.toString(master.port()))) {
			LettuceConnectionFactory factory = new ServerAddress(Backend.REDIS, master.host(), master.port())
				.connectionFactory();
			try (RedisLockStore plainStore = store(factory, null);
					RedisLockStore acknowledgedStore = store(factory, BY_REPLICA);
					LeaseLockRegistry plain = new LeaseLockRegistry(plainStore, LockSettings.defaults());
					LeaseLockRegistry acknowledged = new LeaseLockRegistry(acknowledgedStore,
							LockSettings.defaults())) {
				System.out.printf("Redis on port %d, replica on port %d%n", master.port(), replica.port());
				awaitReplica(acknowledged);
				compare(plain, acknowledged, 1);
				compare(plain, acknowledged, 16);
			}
			factory.destroy();
		}
	}

	private static RedisLockStore store(LettuceConnectionFactory factory,
			@Nullable RedisAcknowledgement acknowledgement) {
		return new RedisLockStore(factory, RedisLockStoreSettings.defaults().withAcknowledgement(acknowledgement));
	}

	private static void awaitReplica(LeaseLockRegistry registry) {
		registry.acquire(LockRequest.builder("first").waitTime(Duration.ofSeconds(20)).build()).release();
	}

	/**
	 * The first two rounds are for warming up.
	 */
	private static void compare(LeaseLockRegistry plain, LeaseLockRegistry acknowledged, int threads) throws Exception {
		List<Double> without = new ArrayList<>();
		List<Double> with = new ArrayList<>();
		for (int round = -2; round < ROUNDS; round++) {
			double plainRate = rate(plain, threads);
			double acknowledgedRate = rate(acknowledged, threads);
			if (round >= 0) {
				without.add(plainRate);
				with.add(acknowledgedRate);
			}
		}
		System.out.printf("threads: %2d, cycles/s: %s, with acknowledgement %s, which is %s times as many%n", threads,
				Rates.text("%,.0f", Summary.of(without)), Rates.text("%,.0f", Summary.of(with)),
				Rates.text("%.2f", Rates.ratio(with, without)));
	}

	private static double rate(LeaseLockRegistry registry, int threads) throws Exception {
		return Rates.of(ROUND, IntStream.range(0, threads).<Rates.Step>mapToObj((i) -> {
			LockRequest request = LockRequest.of("acknowledge-" + i);
			return () -> {
				registry.acquire(request).release();
				return true;
			};
		}).toList()).get(0);
	}

}
