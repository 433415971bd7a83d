package io.dlock.aop.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.micrometer.observation.tck.TestObservationRegistry;
import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.OnBusy;
import io.dlock.OnStoreFailure;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.observation.LockObservationSettings;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.test.Patience;
import io.dlock.test.Pools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Calls of a locked method whose store fails: a database without the lock table.
 */
public class StoreFailureTests {

	private final JdbcDataSource dataSource = new JdbcDataSource();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry);

	private JdbcLockStore store;

	private LeaseLockRegistry registry;

	@BeforeEach
	void start() {
		this.dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		createTable();
		this.store = new JdbcLockStore(this.dataSource,
				JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
		this.registry = new LeaseLockRegistry(this.store,
				LockSettings.builder().commandTimeout(Duration.ofSeconds(5)).waitTime(Duration.ZERO).build());
		this.registry.addListener(this.events::add);
	}

	@AfterEach
	void stop() {
		this.context.close();
		this.registry.close();
		this.store.close();
	}

	private void createTable() {
		Pools.createLockTable(this.dataSource, "h2");
	}

	private void dropTable() {
		new JdbcTemplate(this.dataSource).execute("DROP TABLE dlock_lock");
	}

	private <T> T bean(Class<T> type) {
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> this.postProcessor);
		this.context.registerBean(LockRegistry.class, () -> this.registry);
		this.context.registerBean(type);
		this.context.refresh();
		return this.context.getBean(type);
	}

	private LockEvent.StoreFailed storeFailure() {
		assertThat(this.events).singleElement().isInstanceOf(LockEvent.StoreFailed.class);
		return (LockEvent.StoreFailed) this.events.get(0);
	}

	static class Work {

		private final List<String> runs = new ArrayList<>();

		@DistributedLocked(name = "work")
		public String byDefault() {
			return ran("default");
		}

		@DistributedLocked(name = "work", onStoreFailure = OnStoreFailure.THROW)
		public String throwing() {
			return ran("throwing");
		}

		@DistributedLocked(name = "work", onStoreFailure = OnStoreFailure.PROCEED)
		public String proceeding(Supplier<String> body) {
			ran("proceeding");
			return body.get();
		}

		@DistributedLocked(name = "work", onStoreFailure = OnStoreFailure.FALLBACK, fallback = "instead")
		public String fallingBack() {
			return ran("falling back");
		}

		@DistributedLocked(name = "work", onBusy = OnBusy.SKIP)
		public @Nullable String skipping() {
			return ran("skipping");
		}

		@DistributedLocked(name = "work", onStoreFailure = OnStoreFailure.PROCEED)
		public CompletableFuture<String> proceedingStage() {
			ran("stage");
			return CompletableFuture.completedFuture(LockHandle.current().map(LockHandle::key).orElse("none"));
		}

		@DistributedLocked(name = "work", onStoreFailure = OnStoreFailure.PROCEED)
		public CompletableFuture<String> proceedingStage(CompletableFuture<String> stage) {
			return stage;
		}

		@DistributedLocked(name = "work", onStoreFailure = OnStoreFailure.PROCEED)
		public Mono<String> proceedingMono() {
			return Mono.fromSupplier(() -> LockHandle.current().map(LockHandle::key).orElse("none"));
		}

		@DistributedLocked(name = "work")
		public Mono<String> throwingMono() {
			return Mono.fromSupplier(() -> ran("mono"));
		}

		private String instead() {
			return ran("instead");
		}

		@DistributedLocked(name = "outer")
		public String around(Supplier<String> body) {
			return body.get();
		}

		private String ran(String what) {
			this.runs.add(what);
			return what;
		}

		public List<String> getRuns() {
			return this.runs;
		}

	}

	@Test
	void storeFailureIsThrownByDefaultAndIsNotBusy() {
		Work work = bean(Work.class);
		dropTable();
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(work::byDefault);
		assertThat(storeFailure().failOpen()).isFalse();
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(work::throwing);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(work::skipping);
		assertThat(work.getRuns()).isEmpty();
	}

	@Test
	void methodThatMayRunWithoutItsLockDoesAndListenersAreTold() {
		Work work = bean(Work.class);
		dropTable();
		assertThat(work.proceeding(() -> LockHandle.current().map(LockHandle::key).orElse("none"))).isEqualTo("none");
		assertThat(work.getRuns()).containsExactly("proceeding");
		assertThat(storeFailure().failOpen()).isTrue();
		assertThat(storeFailure().name()).isEqualTo("work");
	}

	@Test
	void methodThatMayRunWithoutItsLockTakesItWhenTheStoreIsBack() {
		Work work = bean(Work.class);
		dropTable();
		work.proceeding(() -> "");
		createTable();
		assertThat(work.proceeding(() -> LockHandle.current().orElseThrow().key())).isEqualTo("work");
		this.store.acquire(new AcquireCommand("work", "elsewhere", Duration.ofSeconds(30), "another instance", ""));
		assertThatExceptionOfType(LockBusyException.class).as("busy is no outage")
			.isThrownBy(() -> work.proceeding(() -> ""));
	}

	@Test
	void currentLockOfUnlockedBodyIsThatOfOuterMethod() {
		Work work = bean(Work.class);
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> work.around(() -> {
			this.store.acquire(new AcquireCommand("work", "elsewhere", Duration.ofSeconds(30), "another instance", ""));
			return work.proceeding(() -> "never");
		}));
		assertThat(work.around(() -> {
			dropTable();
			String key = work.proceeding(() -> LockHandle.current().orElseThrow().key());
			createTable();
			return key;
		})).isEqualTo("outer");
	}

	@Test
	void failureInsideBodyIsNotMistakenForOwnFailure() {
		Work work = bean(Work.class);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> work.proceeding(() -> {
			dropTable();
			return this.registry.acquire("other").key();
		}));
		assertThat(work.getRuns()).as("once").hasSize(1);
	}

	@Test
	void fallbackIsCalledInstead() {
		Work work = bean(Work.class);
		dropTable();
		assertThat(work.fallingBack()).isEqualTo("instead");
		assertThat(work.getRuns()).containsExactly("instead");
		assertThat(storeFailure().failOpen()).as("it did not run").isFalse();
	}

	@Test
	void asynchronousMethodsProceedOrFailToo() {
		Work work = bean(Work.class);
		dropTable();
		assertThat(work.proceedingStage()).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("none");
		Mono<String> mono = work.proceedingMono();
		assertThat(mono.block()).isEqualTo("none");
		assertThat(mono.block()).as("each subscription").isEqualTo("none");
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> work.throwingMono().block());
		assertThat(work.getRuns()).containsExactly("stage");
		assertThat(this.events).extracting((event) -> ((LockEvent.StoreFailed) event).failOpen())
			.containsExactly(true, true, true, false);
	}

	@Test
	void cancelledResultCancelsTheStageOfAMethodWithoutItsLock() {
		Work work = bean(Work.class);
		dropTable();
		CompletableFuture<String> stage = new CompletableFuture<>();
		CompletableFuture<String> result = work.proceedingStage(stage);
		Awaitility.await().until(() -> stage.getNumberOfDependents() > 0);
		result.cancel(true);
		assertThat(stage).isCancelled();
	}

	@Test
	void annotationOverridesChangedDefault() {
		this.postProcessor.setOnStoreFailure(OnStoreFailure.PROCEED);
		Work work = bean(Work.class);
		dropTable();
		assertThat(work.byDefault()).isEqualTo("default");
		assertThat(storeFailure().failOpen()).isTrue();
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(work::throwing);
	}

	@Test
	void shutdownIsNoOutage() {
		Work work = bean(Work.class);
		this.registry.close();
		assertThatExceptionOfType(LockRegistryClosedException.class).isThrownBy(() -> work.proceeding(() -> ""));
		assertThat(work.getRuns()).isEmpty();
	}

	@Test
	void defaultIsToThrowOrToProceed() {
		for (OnStoreFailure policy : List.of(OnStoreFailure.DEFAULT, OnStoreFailure.FALLBACK)) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.postProcessor.setOnStoreFailure(policy))
				.withMessageContaining(policy.name());
		}
	}

	static class WithoutFallback {

		@DistributedLocked(onStoreFailure = OnStoreFailure.FALLBACK)
		public void work() {
		}

	}

	@Test
	void fallbackThatIsNotNamedIsRefused() {
		assertThat(catchThrowable(() -> bean(WithoutFallback.class)))
			.hasMessageContaining("onStoreFailure = FALLBACK and names no fallback");
	}

	@Test
	void observationTellsWhetherTheMethodRanWithoutItsLock() {
		TestObservationRegistry observations = TestObservationRegistry.create();
		this.postProcessor.setObservations(() -> new LockObservationSettings(observations, null, "jdbc"));
		Work work = bean(Work.class);
		dropTable();
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(work::throwing);
		assertThat(observations).hasSingleObservationThat()
			.hasLowCardinalityKeyValue("outcome", "failed")
			.hasError()
			.hasBeenStopped();
		observations.clear();
		work.proceeding(() -> "ran");
		assertThat(observations).hasSingleObservationThat()
			.hasLowCardinalityKeyValue("outcome", "unlocked")
			.doesNotHaveError()
			.hasBeenStopped();
		observations.clear();
		work.proceedingStage().join();
		assertThat(observations).hasSingleObservationThat()
			.hasLowCardinalityKeyValue("outcome", "unlocked")
			.hasBeenStopped();
	}

}
