package io.dlock.autoconfigure;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import io.micrometer.core.instrument.MeterRegistry;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.annotation.Transactional;

import io.dlock.DistributedLocked;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockListener;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.metrics.DlockMetricsAutoConfiguration;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The recipe of {@code docs/recipes.md}: a second registry, whose locks are in the
 * database.
 */
class SeveralRegistriesTests {

	@Configuration(proxyBeanMethods = false)
	static class LedgerLocks {

		@Bean(defaultCandidate = false)
		LockStore ledgerStore(DataSource dataSource, LeaseLockRegistry locks) {
			return new JdbcLockStore(dataSource,
					JdbcLockStoreSettings.defaults().withCommandTimeout(locks.settings().commandTimeout()));
		}

		@Bean(defaultCandidate = false)
		LeaseLockRegistry ledgerLocks(@Qualifier("ledgerStore") LockStore store, LeaseLockRegistry locks) {
			store.verify();
			return new LeaseLockRegistry(store, locks.settings());
		}

	}

	static class Ledger {

		private final JdbcClient jdbc;

		Ledger(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLocked(name = "ledger", key = "#account", registry = "ledgerLocks")
		@Transactional
		public void book(String account, Runnable body) {
			this.jdbc.sql("insert into entry values (1)").update();
			body.run();
		}

		@DistributedLocked(name = "orders", key = "#order")
		@Transactional
		public void place(String order, Runnable body) {
			this.jdbc.sql("insert into entry values (1)").update();
			body.run();
		}

		@DistributedLocked(name = "statements", key = "#account", registry = "${ledger.registry:ledgerLocks}")
		public CompletableFuture<String> print(String account, LockRegistry locks) {
			return CompletableFuture.completedFuture(locks.find("statements:" + account).isPresent() ? "locked" : "");
		}

	}

	static class Typo {

		@DistributedLocked(name = "typo", registry = "ledger")
		public void run() {
		}

	}

	private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	private final JdbcClient outside;

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = withDefaultStore(new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class,
				DlockMetricsAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				JdbcClientAutoConfiguration.class, TransactionAutoConfiguration.class,
				TransactionManagerCustomizationAutoConfiguration.class, MetricsAutoConfiguration.class,
				SimpleMetricsExportAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=" + this.url, "dlock.command-timeout=5s",
				"dlock.transaction.commit-check=row")
		.withUserConfiguration(LedgerLocks.class)
		.withBean(Ledger.class)
		.withBean(LockListener.class, () -> this.events::add));

	SeveralRegistriesTests() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL(this.url);
		dataSource.setUser("sa");
		new ResourceDatabasePopulator(new ClassPathResource("io/dlock/store/jdbc/schema-h2.sql")).execute(dataSource);
		this.outside = JdbcClient.create(dataSource);
		this.outside.sql("create table entry (id int)").update();
	}

	ApplicationContextRunner withDefaultStore(ApplicationContextRunner withoutStore) {
		return withoutStore.withPropertyValues("dlock.backend=memory");
	}

	private int entries() {
		return this.outside.sql("select count(*) from entry").query(Integer.class).single();
	}

	@Test
	void lockIsInTheRegistryThatTheAnnotationNames() {
		this.runner.run((context) -> {
			LockRegistry orders = context.getBean(LockRegistry.class);
			LockRegistry ledger = context.getBean("ledgerLocks", LockRegistry.class);
			assertThat(orders).isNotSameAs(ledger);
			context.getBean(Ledger.class).book("1", () -> {
				assertThat(ledger.find("ledger:1")).isPresent();
				assertThat(orders.find("ledger:1")).isEmpty();
			});
			context.getBean(Ledger.class).place("1", () -> {
				assertThat(orders.find("orders:1")).isPresent();
				assertThat(ledger.find("orders:1")).isEmpty();
			});
			assertThat(context.getBean(Ledger.class).print("1", ledger).get()).isEqualTo("locked");
			assertThat(ledger.find("ledger:1")).isEmpty();
		});
	}

	@Test
	void unknownRegistryFailsTheStartAndTheOthersAreNamed() {
		this.runner.withBean(Typo.class)
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining("names the registry 'ledger'")
				.hasStackTraceContaining("There are: dlockRegistry, ledgerLocks"));
	}

	@Test
	void rowOfEachLockInTheDatabaseIsCheckedBeforeTheCommit() {
		this.runner.run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			ledger.place("1", () -> {
			});
			ledger.book("1", () -> {
			});
			assertThat(entries()).isEqualTo(2);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> ledger.book("1",
					() -> this.outside.sql("update dlock_lock set owner = 'another owner' where lock_key = 'ledger:1'")
						.update()));
			assertThat(entries()).isEqualTo(2);
		});
	}

	@Test
	void metersAndEventsAreThoseOfBothAndToldApartByTheName() {
		this.runner.run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			Ledger ledger = context.getBean(Ledger.class);
			ledger.book("1", () -> ledger.place("1", () -> {
				assertThat(meters.get("dlock.held").tags("name", "ledger", "kind", "exclusive").gauge().value())
					.isOne();
				assertThat(meters.get("dlock.held").tags("name", "orders", "kind", "exclusive").gauge().value())
					.isOne();
			}));
			assertThat(meters.get("dlock.wait").tags("name", "ledger", "outcome", "acquired").timer().count()).isOne();
			assertThat(meters.get("dlock.wait").tags("name", "orders", "outcome", "acquired").timer().count()).isOne();
			assertThat(this.events).filteredOn(LockEvent.Released.class::isInstance)
				.extracting(LockEvent::name)
				.containsExactlyInAnyOrder("orders", "ledger");
		});
	}

	@Test
	void locksOfOneNameAreCountedInAllRegistries() {
		this.runner.run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			LockRequest request = LockRequest.builder("key").name("both").build();
			try (LockHandle order = context.getBean(LockRegistry.class).acquire(request);
					LockHandle entry = context.getBean("ledgerLocks", LockRegistry.class).acquire(request)) {
				assertThat(order.isValid() && entry.isValid()).isTrue();
				assertThat(meters.get("dlock.held").tags("name", "both", "kind", "exclusive").gauge().value())
					.isEqualTo(2);
			}
		});
	}

}
