package io.dlock.aop;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.GenericApplicationContext;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockInfo;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.ScheduledLock;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Annotations that name a registry.
 */
class NamedRegistryTests {

	public static class Work {

		@DistributedLocked(key = "'work'", registry = "audit")
		public boolean named(LockRegistry registry) {
			return registry.find("work").isPresent();
		}

		@DistributedLocked(key = "'work'", registry = "ledger")
		public CompletableFuture<Boolean> qualified(LockRegistry registry) {
			return CompletableFuture.completedFuture(registry.find("work").isPresent());
		}

		@DistributedLocked("'work'")
		public boolean byDefault(LockRegistry registry) {
			return registry.find("work").isPresent();
		}

		@DistributedLimit(name = "work", limit = "1", registry = "audit")
		public boolean limited(LockRegistry registry) {
			return registry.find("limit:work").isPresent();
		}

		@ScheduledLock(name = "work", atMost = "30s", registry = "audit")
		public Optional<LockInfo> scheduled(LockRegistry registry) {
			return registry.find("work");
		}

	}

	public static class ByDefault {

		@DistributedLocked("'work'")
		public void run() {
		}

	}

	public static class Typo {

		@DistributedLocked(key = "'work'", registry = "ledgers")
		public void run() {
		}

	}

	private final LeaseLockRegistry main = registry();

	private final LeaseLockRegistry audit = registry();

	private final GenericApplicationContext context = new GenericApplicationContext();

	private static LeaseLockRegistry registry() {
		return new LeaseLockRegistry(new MemoryLockStore(), LockSettings.builder().build());
	}

	NamedRegistryTests() {
		this.context.registerBean("main", LockRegistry.class, () -> this.main);
		RootBeanDefinition other = new RootBeanDefinition(LockRegistry.class, () -> this.audit);
		other.addQualifier(new AutowireCandidateQualifier(Qualifier.class, "ledger"));
		this.context.registerBeanDefinition("audit", other);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class,
				() -> PostProcessors.create(() -> this.context.getBean("main", LockRegistry.class)));
	}

	@AfterEach
	void close() {
		this.context.close();
		this.main.close();
		this.audit.close();
	}

	@Test
	void lockIsTakenInTheRegistryThatIsNamed() throws ExecutionException, InterruptedException {
		this.context.registerBean(Work.class);
		this.context.refresh();
		Work work = this.context.getBean(Work.class);
		assertThat(work.named(this.audit)).isTrue();
		assertThat(work.named(this.main)).isFalse();
		assertThat(work.qualified(this.audit).get()).isTrue();
		assertThat(work.qualified(this.main).get()).isFalse();
		assertThat(work.byDefault(this.main)).isTrue();
		assertThat(work.byDefault(this.audit)).isFalse();
		assertThat(work.limited(this.audit)).isTrue();
		assertThat(work.limited(this.main)).isFalse();
		assertThat(work.scheduled(this.audit)).isPresent();
		assertThat(work.scheduled(this.main)).isEmpty();
	}

	@Test
	void unknownRegistryFailsTheStart() {
		this.context.registerBean(Typo.class);
		assertThatExceptionOfType(Exception.class).isThrownBy(this.context::refresh)
			.withStackTraceContaining("names the registry 'ledgers'")
			.withStackTraceContaining("There are: audit, main");
	}

	@Test
	void methodThatNamesNoneOfSeveralRegistriesIsRefusedWithTheRemedy() {
		try (GenericApplicationContext several = new GenericApplicationContext()) {
			several.registerBean("first", LockRegistry.class, () -> this.main);
			several.registerBean("second", LockRegistry.class, () -> this.audit);
			several.registerBean(DistributedLockedBeanPostProcessor.class,
					() -> PostProcessors.create(() -> several.getBean(LockRegistry.class)));
			several.registerBean(ByDefault.class);
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(several::refresh)
				.withCauseInstanceOf(InvalidLockedMethodException.class)
				.withMessageContaining("ByDefault.run")
				.withMessageContaining("there are several: [first, second]")
				.withMessageContaining("registry = \"first\"")
				.withMessageContaining("@Primary");
		}
	}

	static class App {

		@Bean
		LockSettings settings() {
			return LockSettings.defaults();
		}

		@DistributedLocked("'job'")
		public void job() {
		}

	}

	@Test
	void registryThatNeedsTheLockedBeanIsRefusedWithTheRemedy() {
		try (AnnotationConfigApplicationContext own = new AnnotationConfigApplicationContext()) {
			own.setAllowCircularReferences(false);
			own.register(App.class);
			own.registerBean(DistributedLockedBeanPostProcessor.class,
					() -> PostProcessors.create(() -> own.getBean(LockRegistry.class)));
			own.registerBean(LockRegistry.class,
					() -> new LeaseLockRegistry(new MemoryLockStore(), own.getBean(LockSettings.class)));
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(own::refresh)
				.withCauseInstanceOf(InvalidLockedMethodException.class)
				.withMessageContaining("App.job")
				.withMessageContaining("static");
		}
	}

}
