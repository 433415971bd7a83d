package io.dlock.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.IllegalTransactionStateException;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.test.Patience;
import io.dlock.test.Pools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two registries have locks with the same key: one in memory, the other in a database.
 */
@Timeout(60)
class RegistriesInTransactionsTests extends AbstractTransactionTests {

	static class Registries {

		@DistributedLocked("'counter'")
		public void here() {
		}

		@DistributedLocked("'counter'")
		public CompletableFuture<Void> hereLater() {
			return CompletableFuture.completedFuture(null);
		}

		@DistributedLocked(key = "'counter'", registry = "audit")
		public void there() {
		}

		@DistributedLocked(key = "'counter'", registry = "audit")
		public CompletableFuture<Void> thereLater() {
			return CompletableFuture.completedFuture(null);
		}

		@DistributedLocked(key = "'counter'", registry = "audit")
		public Mono<String> thereReactively(Mono<String> body) {
			return body;
		}

		@DistributedLocked("'counter'")
		public Mono<String> hereReactively(Mono<String> body) {
			return body;
		}

	}

	private final JdbcDataSource database = new JdbcDataSource();

	private LeaseLockRegistry audit;

	private Registries registries;

	@BeforeEach
	void openDatabase() {
		this.database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		Pools.createLockTable(this.database, "h2");
		this.audit = new LeaseLockRegistry(
				new JdbcLockStore(this.database, JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND)),
				LockSettings.builder()
					.commandTimeout(COMMAND_TIMEOUT)
					.waitTime(Duration.ZERO)
					.shutdownTimeout(Duration.ZERO)
					.build());
		this.context.registerBean("audit", LockRegistry.class, () -> this.audit);
		this.context.registerBean(Registries.class);
	}

	@AfterEach
	void closeDatabase() {
		this.audit.close();
		this.audit.store().close();
	}

	private void startWith(InsideTransaction inside) {
		start((postProcessor) -> postProcessor.setInsideTransaction(inside));
		this.registries = this.context.getBean(Registries.class);
	}

	private void bothAreHeld() {
		assertThat(isHeld()).isTrue();
		assertThat(this.audit.find(KEY)).isPresent();
	}

	private void noneIsLeft() {
		nothingIsLeft();
		assertThat(this.audit.find(KEY)).isEmpty();
	}

	@Test
	void r47AsynchronousCallsShareTheLockOfTheirRegistry() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.registries.hereLater().join();
			this.registries.thereLater().join();
			this.registries.thereLater().join();
			this.registries.hereLater().join();
			bothAreHeld();
		});
		noneIsLeft();
	}

	@Test
	void r47CallInTheThreadSharesTheLockOfItsRegistry() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.registries.here();
			this.registries.thereLater().join();
			this.registries.there();
			this.registries.here();
			bothAreHeld();
		});
		noneIsLeft();
	}

	@Test
	void asynchronousCallIsReentrantInItsRegistry() {
		startWith(InsideTransaction.DEFER);
		try (LockHandle there = this.audit.acquire(KEY); LockHandle here = this.registry.acquire(KEY)) {
			this.registries.thereLater().join();
			this.registries.hereLater().join();
			assertThat(this.registries.thereReactively(Mono.just("done")).block()).isEqualTo("done");
		}
		noneIsLeft();
	}

	@Test
	void reactiveCallIsReentrantInItsRegistry() {
		startWith(InsideTransaction.DEFER);
		Mono<String> body = this.registries.hereReactively(Mono.just("done"));
		Mono<String> between = this.registries.thereReactively(body);
		assertThat(this.registries.hereReactively(between).block()).isEqualTo("done");
		noneIsLeft();
	}

	@Test
	void lockOfAnotherRegistryDoesNotPermitTheCallInATransaction() {
		startWith(InsideTransaction.FAIL);
		try (LockHandle here = this.registry.acquire(KEY)) {
			inTransaction(() -> {
				this.registries.here();
				assertThatExceptionOfType(IllegalTransactionStateException.class)
					.isThrownBy(() -> this.registries.there());
			});
		}
		noneIsLeft();
	}

	@Test
	void firstCallWithEachRegistryWarns() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.registries.here();
			this.registries.there();
		});
		assertThat(warnings()).hasSize(2);
	}

	@Test
	void guardIsAskedForTheLockOfEachRegistry() {
		List<Long> asked = new ArrayList<>();
		start((postProcessor) -> postProcessor.setCommitGuard(() -> (transaction, lock) -> asked.add(lock.token())));
		this.audit.acquire(KEY).release();
		try (LockHandle there = this.audit.acquire(KEY); LockHandle here = this.registry.acquire(KEY)) {
			assertThat(there.token()).isNotEqualTo(here.token());
			inTransaction(this::insert);
			assertThat(asked).containsExactlyInAnyOrder(there.token(), here.token());
		}
	}

}
