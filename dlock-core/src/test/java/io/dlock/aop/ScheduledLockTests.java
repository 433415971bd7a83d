package io.dlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.OnStoreFailure;
import io.dlock.ScheduledLock;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.StoredLock;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A job of several instances: which of them runs it, and for how long the others do not.
 */
@Timeout(120)
class ScheduledLockTests {

	private static final Duration AT_MOST = Duration.ofMinutes(30);

	private static final Duration AT_LEAST = Duration.ofMinutes(1);

	private final AtomicLong storeNanos = new AtomicLong();

	private final MemoryLockStore store = new MemoryLockStore(this.storeNanos::get);

	private final AtomicInteger runs = new AtomicInteger();

	private final List<Instance> instances = new CopyOnWriteArrayList<>();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private volatile Runnable body = () -> {
	};

	@AfterEach
	void stop() {
		this.instances.forEach(Instance::close);
	}

	static class Jobs {

		private final Runnable run;

		Jobs(Runnable run) {
			this.run = run;
		}

		@ScheduledLock(name = "report", atMost = "30m", atLeast = "${jobs.at-least}")
		public void report() {
			this.run.run();
		}

		@ScheduledLock(name = "quick", atMost = "${jobs.at-most:30m}")
		public void quick() {
			this.run.run();
		}

		@ScheduledLock(name = "slow", atMost = "4s")
		public void slow() {
			this.run.run();
		}

		@ScheduledLock(name = "count", atMost = "30m")
		public @Nullable Integer count() {
			this.run.run();
			return 1;
		}

	}

	@ScheduledLock(name = "nightly", atMost = "30m", atLeast = "1m")
	@Retention(RetentionPolicy.RUNTIME)
	@interface Nightly {

	}

	static class NightlyJobs extends Jobs {

		NightlyJobs(Runnable run) {
			super(run);
		}

		@Nightly
		@Override
		public void quick() {
			super.quick();
		}

	}

	@EnableScheduling
	static class ScheduledJobs {

		private final Runnable run;

		ScheduledJobs(Runnable run) {
			this.run = run;
		}

		@Scheduled(fixedDelay = 20)
		@ScheduledLock(name = "scheduled", atMost = "30m", atLeast = "30m")
		void run() {
			this.run.run();
		}

	}

	private void run() {
		this.runs.incrementAndGet();
		this.body.run();
	}

	private void pass(Duration time) {
		this.storeNanos.addAndGet(time.toNanos());
	}

	private Instance instance(Class<?> jobs) {
		return instance(jobs, this.store, LockSettings.builder().waitTime(Duration.ofMinutes(10)).build());
	}

	private Instance instance(Class<?> jobs, LockStore lockStore, LockSettings settings) {
		Instance instance = new Instance(jobs, lockStore, settings.toBuilder().shutdownTimeout(Duration.ZERO).build());
		this.instances.add(instance);
		return instance;
	}

	@Test
	void quickJobRunsOnceOnTwoInstances() {
		Jobs here = instance(Jobs.class).jobs();
		Jobs there = instance(Jobs.class).jobs();
		here.report();
		there.report();
		here.report();
		assertThat(this.runs).hasValue(1);
		pass(AT_LEAST.plusSeconds(1));
		there.report();
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void jobRunningElsewhereIsSkippedAtOnce() {
		Jobs here = instance(Jobs.class).jobs();
		Jobs there = instance(Jobs.class).jobs();
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		this.body = () -> {
			running.countDown();
			Awaitility.await().until(() -> end.getCount() == 0);
		};
		CompletableFuture<Void> job = CompletableFuture.runAsync(here::quick);
		Awaitility.await().until(() -> running.getCount() == 0);
		there.quick();
		assertThat(this.runs).hasValue(1);
		assertThat(job).isNotDone();
		end.countDown();
		job.join();
		there.quick();
		assertThat(this.runs).as("without atLeast it is free at once").hasValue(2);
		assertThat(this.events).filteredOn(LockEvent.Busy.class::isInstance).hasSize(1);
	}

	@Test
	void composedAnnotationDeclaresAJob() {
		Jobs here = instance(NightlyJobs.class).jobs();
		Jobs there = instance(NightlyJobs.class).jobs();
		this.body = () -> {
			assertThat(this.store.find("nightly")).isPresent();
			assertThat(this.store.find("quick")).isEmpty();
		};
		here.quick();
		there.quick();
		assertThat(this.runs).as("until atLeast is over").hasValue(1);
		pass(AT_LEAST.plusSeconds(1));
		there.quick();
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void skippedJobWithAResultReturnsNull() {
		Jobs here = instance(Jobs.class).jobs();
		Jobs there = instance(Jobs.class).jobs();
		this.body = () -> {
			this.body = () -> {
			};
			assertThat(there.count()).isNull();
		};
		assertThat(here.count()).isEqualTo(1);
	}

	@Test
	void instanceThatDiesKeepsTheLockForAtMostAndNotForItsDefaultLease() {
		Jobs here = instance(Jobs.class).jobs();
		Jobs there = instance(Jobs.class).jobs();
		this.body = () -> {
			this.body = () -> {
			};
			pass(AT_MOST.minusSeconds(1));
			there.quick();
			assertThat(this.runs).as("is not renewed, and does not end before").hasValue(1);
			pass(Duration.ofSeconds(1));
			there.quick();
			assertThat(this.runs).hasValue(2);
		};
		here.quick();
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void atLeastCountsForAJobThatThrowsToo() {
		Jobs here = instance(Jobs.class).jobs();
		Jobs there = instance(Jobs.class).jobs();
		this.body = () -> {
			throw new IllegalStateException("of the job");
		};
		assertThatIllegalStateException().isThrownBy(here::report).withMessage("of the job");
		there.report();
		assertThat(this.runs).hasValue(1);
		StoredLock kept = this.store.find("report").orElseThrow();
		assertThat(kept.kept()).as("has no holder").isTrue();
		pass(AT_LEAST.plusSeconds(1));
		assertThat(this.store.find("report")).isEmpty();
	}

	@Test
	void jobExceedingAtMostLosesItsLock() {
		Jobs here = instance(Jobs.class, new MemoryLockStore(), LockSettings.defaults()).jobs();
		this.body = () -> {
			LockHandle handle = LockHandle.current().orElseThrow();
			Awaitility.await().until(() -> !handle.isValid());
		};
		assertThatExceptionOfType(LockLostException.class).isThrownBy(here::slow);
		assertThat(this.runs).hasValue(1);
	}

	@ParameterizedTest
	@ValueSource(classes = { Jobs.class, NightlyJobs.class })
	void limitOfAllOtherLocksDoesNotApply(Class<? extends Jobs> type) {
		Jobs here = instance(type, this.store, LockSettings.builder().maxHold(Duration.ofMinutes(1)).build()).jobs();
		this.body = () -> {
			StoredLock lock = this.store.find((type == Jobs.class) ? "quick" : "nightly").orElseThrow();
			assertThat(Duration.between(lock.since(), lock.until())).isBetween(AT_MOST.minusSeconds(20),
					AT_MOST.plusSeconds(20));
		};
		here.quick();
		assertThat(this.runs).hasValue(1);
	}

	/**
	 * A store without its table.
	 */
	@Test
	void jobDoesNotRunWhenStoreFailsUnderAnyPolicy() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:scheduled");
		JdbcLockStore broken = new JdbcLockStore(dataSource,
				JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
		Jobs here = instance(Jobs.class, broken, LockSettings.defaults()).jobs();
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(here::quick);
		assertThat(this.runs).hasValue(0);
		broken.close();
	}

	@Test
	void jobIsKnownByItsNameAndTheMethod() {
		Jobs here = instance(Jobs.class).jobs();
		this.body = () -> assertThat(this.store.find("quick").orElseThrow().reason()).isEqualTo("Jobs.quick");
		here.quick();
		assertThat(this.events).extracting(LockEvent::name).containsOnly("quick");
	}

	@Test
	void lockIsThatOfTheNameForOthersToo() {
		Jobs here = instance(Jobs.class).jobs();
		here.report();
		LeaseLockRegistry registry = this.instances.get(0).registry;
		assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> registry.acquire(LockRequest.builder("report").waitTime(Duration.ZERO).build()));
	}

	@Test
	void scheduledJobsOfTwoInstancesRunOnce() {
		instance(ScheduledJobs.class);
		instance(ScheduledJobs.class);
		Awaitility.await().until(() -> this.events.stream().filter(LockEvent.Busy.class::isInstance).count() >= 4);
		assertThat(this.runs).hasValue(1);
	}

	/**
	 * An application with its own registry on the store that they share.
	 */
	private final class Instance {

		private final LeaseLockRegistry registry;

		private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

		private Instance(Class<?> jobs, LockStore lockStore, LockSettings settings) {
			this.registry = new LeaseLockRegistry(lockStore, settings);
			this.registry.addListener(ScheduledLockTests.this.events::add);
			DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry);
			postProcessor.setOnStoreFailure(OnStoreFailure.PROCEED);
			this.context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("test", Map.of("jobs.at-least", "1m")));
			this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
			this.context.registerBean(Runnable.class, () -> ScheduledLockTests.this::run);
			this.context.registerBean(jobs);
			this.context.refresh();
		}

		private Jobs jobs() {
			return this.context.getBean(Jobs.class);
		}

		private void close() {
			this.context.close();
			this.registry.close();
		}

	}

}
