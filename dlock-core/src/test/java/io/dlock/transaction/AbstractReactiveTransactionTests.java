package io.dlock.transaction;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.OnLost;
import io.dlock.ReactiveLockContext;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.CapturedLog;
import io.dlock.test.ForcedLoss;
import io.dlock.test.PostgresServer;

/**
 * An application whose transactions travel in the Reactor context, of PostgreSQL.
 */
abstract class AbstractReactiveTransactionTests {

	static class Counter {

		private final DatabaseClient database;

		private final LeaseLockRegistry registry;

		Counter(DatabaseClient database, LeaseLockRegistry registry) {
			this.database = database;
			this.registry = registry;
		}

		@DistributedLocked(key = "#id", waitTime = "60s")
		public Mono<Integer> add(String id) {
			return read(id).delayElement(Duration.ofMillis(5)).flatMap((value) -> write(id, value + 1));
		}

		@DistributedLocked(key = "#id", waitTime = "60s")
		@Transactional
		public Mono<Integer> addInItsOwnTransaction(String id) {
			return read(id).delayElement(Duration.ofMillis(5)).flatMap((value) -> write(id, value + 1));
		}

		@DistributedLocked(key = "#id", waitTime = "60s")
		public Mono<Long> token(String id) {
			return ReactiveLockContext.currentHandle().map(LockHandle::token);
		}

		@DistributedLocked(key = "#id", waitTime = "0s")
		public <T> Mono<T> around(String id, Mono<T> body) {
			return body;
		}

		@DistributedLocked(key = "#id", waitTime = "60s")
		public Mono<String> never(String id) {
			return Mono.never();
		}

		@DistributedLocked("#id")
		@Transactional
		public Mono<Integer> losing(String id) {
			return addAndLose(id);
		}

		@DistributedLocked(key = "#id", onLost = OnLost.IGNORE)
		@Transactional
		public Mono<Integer> losingCarelessly(String id) {
			return addAndLose(id);
		}

		@DistributedLocked(key = "#id", onLost = OnLost.INTERRUPT)
		@Transactional
		public Mono<Integer> interrupted(String id) {
			return addAndLose(id).delayElement(Duration.ofSeconds(60));
		}

		@DistributedLocked(keys = { "#id", "'other/' + #id" })
		@Transactional
		public Mono<Integer> addUnderTwo(String id, Runnable meanwhile) {
			return read(id).flatMap((value) -> write(id, value + 1)).doOnNext((value) -> meanwhile.run());
		}

		@DistributedLocked(keys = { "#id", "'other/' + #id" }, waitTime = "60s")
		public <T> Mono<T> insideOfTwo(String id, Mono<T> body) {
			return body;
		}

		private Mono<Integer> addAndLose(String id) {
			return read(id).flatMap((value) -> write(id, value + 1))
				.doOnNext((value) -> ForcedLoss.of(this.registry, id));
		}

		private Mono<Integer> read(String id) {
			return this.database.sql("select value from reactive_counter where id = :id")
				.bind("id", id)
				.map((row) -> row.get(0, Integer.class))
				.one();
		}

		private Mono<Integer> write(String id, int value) {
			return this.database.sql("update reactive_counter set value = :value where id = :id")
				.bind("id", id)
				.bind("value", value)
				.fetch()
				.rowsUpdated()
				.thenReturn(value);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	static class Config {

	}

	final String id = "counter/" + UUID.randomUUID();

	final MemoryLockStore store = new MemoryLockStore();

	final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().commandTimeout(Duration.ofSeconds(5)).shutdownTimeout(Duration.ZERO).build());

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final CapturedLog log = CapturedLog.of("io.dlock.transaction");

	private DatabaseClient database;

	R2dbcTransactionManager transactions;

	Counter counter;

	@BeforeEach
	void connect() {
		PostgresServer server = PostgresServer.shared();
		ConnectionFactory connections = new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
			.host(server.host())
			.port(server.port())
			.username(server.username())
			.password(server.password())
			.database("postgres")
			.build());
		this.database = DatabaseClient.create(connections);
		this.transactions = new R2dbcTransactionManager(connections);
		this.database
			.sql("create table if not exists reactive_counter (id varchar(100) primary key, value int not null)")
			.then()
			.then(this.database.sql("insert into reactive_counter values (:id, 0)").bind("id", this.id).then())
			.block();
	}

	@AfterEach
	void close() {
		this.log.close();
		this.context.close();
		this.registry.close();
	}

	final void start(Consumer<DistributedLockedBeanPostProcessor> settings, ReactiveTransactionManager manager) {
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> {
			DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(
					() -> this.registry);
			postProcessor.setProxyTargetClass(true);
			settings.accept(postProcessor);
			return postProcessor;
		});
		this.context.registerBean(LockRegistry.class, () -> this.registry);
		this.context.registerBean(ReactiveTransactionManager.class, () -> manager);
		this.context.registerBean(Counter.class, () -> new Counter(this.database, this.registry));
		this.context.register(Config.class);
		this.context.refresh();
		this.counter = this.context.getBean(Counter.class);
	}

	final void start(InsideTransaction inside) {
		start((postProcessor) -> postProcessor.setInsideTransaction(inside), this.transactions);
	}

	final <T> Mono<T> inTransaction(Mono<T> body) {
		return TransactionalOperator.create(this.transactions).transactional(body);
	}

	final <T> Mono<T> inNewTransaction(Mono<T> body) {
		return TransactionalOperator
			.create(this.transactions, new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW))
			.transactional(body);
	}

	final boolean isHeld() {
		return this.registry.find(this.id).isPresent();
	}

	final int value() {
		return new Counter(this.database, this.registry).read(this.id).block();
	}

	final List<String> warnings() {
		return this.log.messages();
	}

}
