package io.dlock.aop.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.ReactiveLockContext;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.JedisFactories;
import io.dlock.test.LettuceFactories;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * R49 on real servers: two instances run asynchronous methods for the same key, of which
 * many are cancelled at any time.
 */
@Timeout(120)
class CompletionIntegrationTests {

	private static final int CALLS = 60;

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(7);

	/** The state that the lock protects: it has no other protection. */
	private static final class Counter {

		private volatile int value;

		private int read() {
			return this.value;
		}

		private void write(int value) {
			this.value = value;
		}

	}

	static class Work {

		private final ScheduledExecutorService elsewhere = Executors.newScheduledThreadPool(2);

		@DistributedLocked(key = "#key", waitTime = "60s")
		public CompletableFuture<Integer> stage(String key, Counter counter) {
			int read = counter.read();
			CompletableFuture<Integer> done = new CompletableFuture<>();
			this.elsewhere.schedule(() -> {
				counter.write(read + 1);
				done.complete(read);
			}, 2, TimeUnit.MILLISECONDS);
			return done;
		}

		@DistributedLocked(key = "#key", waitTime = "60s")
		public Mono<Integer> mono(String key, Counter counter) {
			int read = counter.read();
			return Mono.delay(Duration.ofMillis(2)).map((tick) -> {
				counter.write(read + 1);
				return read;
			});
		}

		@DistributedLocked(keys = { "#from", "#to" }, waitTime = "60s")
		public boolean move(String from, String to, Map<String, Counter> counters) {
			counters.get(from).write(counters.get(from).read() - 1);
			counters.get(to).write(counters.get(to).read() + 1);
			return LockContext.all().stream().allMatch(LockHandle::isValid) && LockContext.all().size() == 2;
		}

		@DistributedLocked(keys = { "#from", "#to" }, waitTime = "60s")
		public CompletableFuture<Boolean> moveLater(String from, String to, Map<String, Counter> counters) {
			int read = counters.get(from).read();
			CompletableFuture<Boolean> done = new CompletableFuture<>();
			this.elsewhere.schedule(() -> {
				counters.get(from).write(read - 1);
				counters.get(to).write(counters.get(to).read() + 1);
				done.complete(true);
			}, 2, TimeUnit.MILLISECONDS);
			return done;
		}

		@DistributedLocked(keys = { "#from", "#to" }, waitTime = "60s")
		public Mono<Boolean> moveReactively(String from, String to, Map<String, Counter> counters) {
			int read = counters.get(from).read();
			return Mono.delay(Duration.ofMillis(2)).flatMap((tick) -> Mono.deferContextual((context) -> {
				counters.get(from).write(read - 1);
				counters.get(to).write(counters.get(to).read() + 1);
				return Mono.just(ReactiveLockContext.all(context).size() == 2);
			}));
		}

		@DistributedLocked(key = "#key", waitTime = "60s")
		public Mono<String> never(String key) {
			return Mono.never();
		}

		@DistributedLocked(key = "#key", waitTime = "60s")
		public CompletableFuture<String> neverDone(String key) {
			return new CompletableFuture<>();
		}

	}

	/**
	 * An instance of the application.
	 */
	private static final class Instance implements AutoCloseable {

		private final GenericApplicationContext context = new GenericApplicationContext();

		private final LockStore store;

		private final LeaseLockRegistry registry;

		private Instance(String server) {
			this.store = store(server);
			this.registry = new LeaseLockRegistry(this.store,
					LockSettings.builder().commandTimeout(COMMAND_TIMEOUT).shutdownTimeout(Duration.ZERO).build());
			DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(
					() -> this.registry);
			postProcessor.setProxyTargetClass(true);
			this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
			this.context.registerBean(LockRegistry.class, () -> this.registry);
			this.context.registerBean(Work.class);
			this.context.refresh();
		}

		private Work work() {
			return this.context.getBean(Work.class);
		}

		@Override
		public void close() {
			this.context.close();
			this.registry.close();
			this.store.close();
		}

	}

	static LockStore store(String server) {
		if (server.equals("memory")) {
			return new MemoryLockStore();
		}
		if (server.equals("redis")) {
			RedisServer redis = RedisServer.shared();
			LettuceConnectionFactory factory = LettuceFactories.create(redis.host(), redis.port());
			return new RedisLockStore(factory, RedisLockStoreSettings.defaults().withCommandTimeout(COMMAND_TIMEOUT));
		}
		if (server.equals("jedis")) {
			RedisServer redis = RedisServer.shared();
			JedisConnectionFactory factory = JedisFactories
				.start(new JedisConnectionFactory(new RedisStandaloneConfiguration(redis.host(), redis.port())));
			return new RedisLockStore(factory, RedisLockStoreSettings.defaults().withCommandTimeout(COMMAND_TIMEOUT));
		}
		boolean isMariaDb = server.equals("mariadb");
		HikariDataSource pool = isMariaDb ? Pools.create(MariaDbServer.shared())
				: Pools.create(PostgresServer.shared());
		Pools.createLockTable(pool, isMariaDb ? "mysql" : "postgresql");
		return new JdbcLockStore(pool, JdbcLockStoreSettings.defaults().withCommandTimeout(COMMAND_TIMEOUT));
	}

	static Stream<String> servers() {
		return Stream.of("redis", "postgresql");
	}

	private static void assertFree(Instance instance, String key) {
		Awaitility.await().untilAsserted(() -> assertThat(instance.registry.find(key)).isEmpty());
		assertThat(instance.registry.tryAcquire(key, Duration.ofSeconds(10))).isPresent()
			.hasValueSatisfying(LockHandle::release);
	}

	@ParameterizedTest
	@MethodSource("servers")
	void r49NoUpdateIsLostBetweenInstances(String server) {
		String key = "completion/" + UUID.randomUUID();
		Counter counter = new Counter();
		try (Instance one = new Instance(server); Instance two = new Instance(server)) {
			List<CompletableFuture<Integer>> results = new ArrayList<>();
			for (int i = 0; i < CALLS; i++) {
				Instance instance = (i % 2 == 0) ? one : two;
				results.add((i % 4 < 2) ? instance.work().stage(key, counter)
						: instance.work().mono(key, counter).toFuture());
			}
			assertThat(Flux.fromIterable(results).flatMap(Mono::fromFuture, CALLS).collectList().block()).hasSize(CALLS)
				.doesNotHaveDuplicates();
			assertThat(counter.read()).isEqualTo(CALLS);
			assertFree(one, key);
		}
	}

	/**
	 * Each call locks two keys, of which many lock the same ones in the other order.
	 */
	@ParameterizedTest
	@MethodSource("servers")
	void callsThatLockSeveralKeysExcludeEachOtherAndDoNotWaitInACircle(String server) {
		List<String> keys = Stream.of("a", "b", "c").map((name) -> name + "/" + UUID.randomUUID()).toList();
		Map<String, Counter> counters = new HashMap<>();
		keys.forEach((key) -> counters.put(key, new Counter()));
		try (Instance one = new Instance(server); Instance two = new Instance(server)) {
			List<CompletableFuture<Boolean>> results = new ArrayList<>();
			for (int i = 0; i < CALLS; i++) {
				Work work = ((i % 2 == 0) ? one : two).work();
				String from = keys.get(i % 3);
				String to = keys.get((i + 1 + i / 3 % 2) % 3);
				results.add(switch (i / 2 % 3) {
					case 0 -> CompletableFuture.supplyAsync(() -> work.move(from, to, counters));
					case 1 -> work.moveLater(from, to, counters);
					default -> work.moveReactively(from, to, counters).toFuture();
				});
			}
			assertThat(Flux.fromIterable(results).flatMap(Mono::fromFuture, CALLS).collectList().block()).hasSize(CALLS)
				.containsOnly(true);
			assertThat(counters.values().stream().mapToInt(Counter::read).sum()).isZero();
			keys.forEach((key) -> assertFree(one, key));
		}
	}

	@ParameterizedTest
	@MethodSource("servers")
	void r49CancelledCallsLeaveNothing(String server) {
		String key = "completion/" + UUID.randomUUID();
		try (Instance one = new Instance(server); Instance two = new Instance(server)) {
			for (int i = 0; i < CALLS; i++) {
				Instance instance = (i % 2 == 0) ? one : two;
				Disposable subscription = instance.work().never(key).subscribe();
				CompletableFuture<String> future = instance.work().neverDone(key);
				CompletableFuture.runAsync(() -> {
				}, CompletableFuture.delayedExecutor(i % 7, TimeUnit.MILLISECONDS)).join();
				subscription.dispose();
				future.cancel(true);
			}
			assertFree(two, key);
			assertFree(one, key);
		}
	}

}
