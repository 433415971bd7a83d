package io.dlock.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.OnLost;
import io.dlock.ReactiveLockContext;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * R46, R47, R48 for transactions that travel in the Reactor context, of PostgreSQL.
 */
@Timeout(120)
class ReactiveTransactionIntegrationTests {

	static class Counter {

		private final DatabaseClient database;

		Counter(DatabaseClient database) {
			this.database = database;
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

		@DistributedLocked(key = "#id", lease = "400ms", renew = false)
		public Mono<Integer> addShortly(String id) {
			return read(id).flatMap((value) -> write(id, value + 1));
		}

		@DistributedLocked(key = "#id", lease = "400ms", renew = false)
		@Transactional
		public Mono<Integer> losing(String id) {
			return addAndLose(id);
		}

		@DistributedLocked(key = "#id", lease = "400ms", renew = false, onLost = OnLost.IGNORE)
		@Transactional
		public Mono<Integer> losingCarelessly(String id) {
			return addAndLose(id);
		}

		@DistributedLocked(key = "#id", lease = "400ms", renew = false, onLost = OnLost.INTERRUPT)
		@Transactional
		public Mono<Integer> interrupted(String id) {
			return addAndLose(id).delayElement(Duration.ofSeconds(60));
		}

		@DistributedLocked(keys = { "#id", "'other/' + #id" }, lease = "2s")
		@Transactional
		public Mono<Integer> addUnderTwo(String id, Runnable meanwhile) {
			return read(id).flatMap((value) -> write(id, value + 1)).doOnNext((value) -> meanwhile.run());
		}

		@DistributedLocked(keys = { "#id", "'other/' + #id" }, waitTime = "60s")
		public <T> Mono<T> insideOfTwo(String id, Mono<T> body) {
			return body;
		}

		private Mono<Integer> addAndLose(String id) {
			return read(id).flatMap((value) -> write(id, value + 1)).delayElement(Duration.ofMillis(500));
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

	private final String id = "counter/" + UUID.randomUUID();

	private final MemoryLockStore store = new MemoryLockStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().commandTimeout(Duration.ofMillis(50)).shutdownTimeout(Duration.ZERO).build());

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private DatabaseClient database;

	private R2dbcTransactionManager transactions;

	private Counter counter;

	@BeforeEach
	void connect() {
		this.log.start();
		((Logger) LoggerFactory.getLogger("io.dlock.transaction")).addAppender(this.log);
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
		((Logger) LoggerFactory.getLogger("io.dlock.transaction")).detachAppender(this.log);
		this.context.close();
		this.registry.close();
	}

	private void start(Consumer<DistributedLockedBeanPostProcessor> settings, ReactiveTransactionManager manager) {
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> {
			DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(
					() -> this.registry);
			postProcessor.setProxyTargetClass(true);
			settings.accept(postProcessor);
			return postProcessor;
		});
		this.context.registerBean(LockRegistry.class, () -> this.registry);
		this.context.registerBean(ReactiveTransactionManager.class, () -> manager);
		this.context.registerBean(Counter.class, () -> new Counter(this.database));
		this.context.register(Config.class);
		this.context.refresh();
		this.counter = this.context.getBean(Counter.class);
	}

	private void start(InsideTransaction inside) {
		start((postProcessor) -> postProcessor.setInsideTransaction(inside), this.transactions);
	}

	private <T> Mono<T> inTransaction(Mono<T> body) {
		return TransactionalOperator.create(this.transactions).transactional(body);
	}

	private <T> Mono<T> inNewTransaction(Mono<T> body) {
		return TransactionalOperator
			.create(this.transactions, new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW))
			.transactional(body);
	}

	private boolean isHeld() {
		return this.registry.find(this.id).isPresent();
	}

	private int value() {
		return new Counter(this.database).read(this.id).block();
	}

	private List<String> warnings() {
		return this.log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	@Test
	void r46LockAroundTheTransactionOfTheMethodLosesNothing() {
		start(InsideTransaction.FAIL);
		Flux.range(0, 30).flatMap((i) -> this.counter.addInItsOwnTransaction(this.id), 10).blockLast();
		assertThat(value()).isEqualTo(30);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void r47LockInsideATransactionLosesNothingIfItIsKept() {
		start(InsideTransaction.DEFER);
		Flux.range(0, 30)
			.flatMap((i) -> inTransaction(this.counter.add(this.id).delayElement(Duration.ofMillis(5))), 10)
			.blockLast();
		assertThat(value()).isEqualTo(30);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void b34LockInsideATransactionLosesUpdatesIfItIsNotKept() {
		start(InsideTransaction.IGNORE);
		Flux.range(0, 30)
			.flatMap((i) -> inTransaction(this.counter.add(this.id).delayElement(Duration.ofMillis(5))), 10)
			.blockLast();
		assertThat(value()).isLessThan(30);
		assertThat(warnings()).noneMatch((warning) -> warning.contains("dlock.transaction.inside"));
	}

	@Test
	void r47LockIsKeptUntilTheCommitAndWarnedOfOnce() {
		start(InsideTransaction.DEFER);
		for (int i = 0; i < 2; i++) {
			assertThat(inTransaction(this.counter.add(this.id).map((value) -> isHeld())).block()).isTrue();
			assertThat(isHeld()).isFalse();
		}
		assertThat(warnings()).filteredOn((warning) -> warning.contains("dlock.transaction.inside"))
			.singleElement()
			.asString()
			.contains("Counter.add");
	}

	@Test
	void r47LockIsKeptUntilTheRollback() {
		start(InsideTransaction.DEFER);
		List<Boolean> held = Collections.synchronizedList(new ArrayList<>());
		assertThatIllegalStateException().isThrownBy(() -> inTransaction(this.counter.add(this.id).map((value) -> {
			held.add(isHeld());
			throw new IllegalStateException("roll back");
		})).block()).withMessage("roll back");
		assertThat(held).containsExactly(true);
		assertThat(isHeld()).isFalse();
		assertThat(value()).isZero();
	}

	@Test
	void r47CancelledTransactionReleases() {
		start(InsideTransaction.DEFER);
		Disposable running = inTransaction(this.counter.never(this.id)).subscribe();
		Awaitility.await().until(this::isHeld);
		running.dispose();
		Awaitility.await().until(() -> !isHeld());
		Disposable kept = inTransaction(this.counter.add(this.id).then(Mono.never())).subscribe();
		Awaitility.await().until(this::isHeld);
		kept.dispose();
		Awaitility.await().until(() -> !isHeld());
	}

	@Test
	void r47CallsOfOneTransactionShareTheLock() {
		start(InsideTransaction.DEFER);
		List<Long> tokens = inTransaction(Flux.range(0, 3).concatMap((i) -> this.counter.token(this.id)).collectList())
			.block(Duration.ofSeconds(20));
		assertThat(tokens).hasSize(3).containsOnly(tokens.get(0));
		assertThat(inTransaction(Flux.merge(this.counter.token(this.id), this.counter.token(this.id)).collectList())
			.block(Duration.ofSeconds(20))).hasSize(2);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void r47NestedCallOfATransactionIsReentrant() {
		start(InsideTransaction.DEFER);
		Mono<Long> token = ReactiveLockContext.currentHandle().map(LockHandle::token);
		Mono<Boolean> same = token.zipWith(this.counter.around(this.id, token), Long::equals);
		assertThat(inTransaction(this.counter.around(this.id, same)).block()).isTrue();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void r47InnerTransactionEndsTheLocksThatWereTakenInIt() {
		start(InsideTransaction.DEFER);
		List<Boolean> held = inTransaction(inNewTransaction(this.counter.add(this.id).map((value) -> isHeld()))
			.flatMap((inside) -> Mono.fromSupplier(() -> List.of(inside, isHeld())))).block();
		assertThat(held).containsExactly(true, false);
		assertThat(inTransaction(this.counter.token(this.id)
			.then(inNewTransaction(Mono.fromSupplier(this::isHeld)))
			.flatMap((inside) -> this.counter.token(this.id).thenReturn(inside))).block()).isTrue();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void failRefusesTheSubscription() {
		start(InsideTransaction.FAIL);
		assertThatExceptionOfType(IllegalTransactionStateException.class)
			.isThrownBy(inTransaction(this.counter.add(this.id))::block)
			.withMessageContaining("Counter.add");
		assertThat(isHeld()).isFalse();
		assertThat(value()).isZero();
		assertThat(this.counter.add(this.id).block()).isOne();
	}

	@Test
	void r48LostLockThatTheTransactionKeepsRollsItBack() {
		start(InsideTransaction.DEFER);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(inTransaction(this.counter.addShortly(this.id).delayElement(Duration.ofMillis(500)))::block)
			.withMessageContaining("is rolled back");
		assertThat(value()).isZero();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void r48LostLockRollsBackTheTransactionOfTheMethodIfTheManagerChecks() {
		start((postProcessor) -> {
		}, new LockCheckingTransactionManager(this.transactions));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.counter.losing(this.id)::block)
			.withMessageContaining("is rolled back");
		assertThat(value()).isZero();
		assertThat(this.counter.losingCarelessly(this.id).block()).isOne();
		assertThat(this.counter.addInItsOwnTransaction(this.id).block()).isEqualTo(2);
		assertThat(warnings()).isEmpty();
	}

	@Test
	void r48LossOfOneOfSeveralLocksRollsBack() {
		start((postProcessor) -> {
		}, new LockCheckingTransactionManager(this.transactions));
		assertThat(this.counter.addUnderTwo(this.id, () -> {
		}).block()).isOne();
		List<String> keys = new CopyOnWriteArrayList<>();
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Lost) {
				keys.add(event.key());
			}
		});
		for (String lost : List.of(this.id, "other/" + this.id)) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(this.counter.addUnderTwo(this.id, () -> {
				this.store.inspection().forceRelease(lost, this.store.find(lost).orElseThrow().token());
				Awaitility.await().until(() -> keys.remove(lost));
			})::block).withMessageContaining("is rolled back").satisfies((ex) -> assertThat(ex.key()).isEqualTo(lost));
		}
		assertThat(value()).isOne();
	}

	@Test
	void r47SeveralLocksAreKeptUntilTheCommitAndSharedByCallsOfTheTransaction() {
		start(InsideTransaction.DEFER);
		Mono<Boolean> held = Mono.fromSupplier(() -> isHeld() && this.registry.find("other/" + this.id).isPresent());
		assertThat(inTransaction(this.counter.insideOfTwo(this.id, this.counter.add(this.id))
			.then(this.counter.insideOfTwo(this.id, held))
			.zipWhen((inside) -> held, Boolean::logicalAnd)).block(Duration.ofSeconds(60))).isTrue();
		assertThat(isHeld() || this.registry.find("other/" + this.id).isPresent()).isFalse();
		assertThat(value()).isOne();
	}

	@Test
	void r47NestedCallWithSeveralKeysSharesThoseOfEarlierCalls() {
		start(InsideTransaction.DEFER);
		Mono<Integer> nested = this.counter.around(this.id, this.counter.insideOfTwo(this.id, Mono.just(1)));
		assertThat(inTransaction(this.counter.token("other/" + this.id).then(nested)).block(Duration.ofSeconds(20)))
			.isOne();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void warnsAtStartOfManagerWithoutCommitCheck() {
		start(InsideTransaction.DEFER);
		assertThat(warnings()).singleElement().asString().contains(LockCheckingTransactionManager.class.getName());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.counter.losing(this.id)::block)
			.withMessageNotContaining("is rolled back");
		assertThat(value()).as("committed all the same").isOne();
	}

	@Test
	void lossCancelsAndRollsBackTheTransactionIfAskedFor() {
		start(InsideTransaction.DEFER);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.counter.interrupted(this.id)::block);
		Awaitility.await()
			.during(Duration.ofMillis(200))
			.untilAsserted(() -> assertThat(value()).as("rolled back").isZero());
	}

}
