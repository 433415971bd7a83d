package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.Order;

import io.dlock.DistributedLocked;
import io.dlock.LockEvent;
import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Listeners and application events.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockEventsAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class))
		.withPropertyValues("dlock.backend=memory");

	private static final List<String> CALLS = new CopyOnWriteArrayList<>();

	@Configuration(proxyBeanMethods = false)
	static class Listeners {

		@Bean
		@Order(2)
		LockListener second() {
			return (event) -> CALLS.add("second " + event.getClass().getSimpleName());
		}

		@Bean
		@Order(1)
		LockListener first() {
			return (event) -> CALLS.add("first " + event.getClass().getSimpleName());
		}

	}

	@Test
	void listenersReceiveEventsInTheirOrder() {
		CALLS.clear();
		this.runner.withUserConfiguration(Listeners.class).run((context) -> {
			context.getBean(LockRegistry.class).acquire("key").release();
			assertThat(CALLS).containsExactly("first Acquired", "second Acquired", "first Released", "second Released");
		});
	}

	@Test
	void listenersReceiveEventsOfTheRegistryOfTheUser() {
		CALLS.clear();
		LeaseLockRegistry own = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
		this.runner.withUserConfiguration(Listeners.class).withBean(LockRegistry.class, () -> own).run((context) -> {
			own.acquire("key").release();
			assertThat(CALLS).hasSize(4);
		});
	}

	static class NeedsLocks implements LockListener {

		private final LockRegistry registry;

		NeedsLocks(LockedService service, LockRegistry registry) {
			assertThat(service).isNotNull();
			this.registry = registry;
		}

		@Override
		public void onEvent(LockEvent event) {
			assertThat(this.registry.find(event.key())).isNotNull();
			CALLS.add(event.key());
		}

	}

	static class LockedService {

		@DistributedLocked("'work'")
		public void work() {
		}

	}

	@Test
	void listenerMayDependOnTheRegistryIndirectly() {
		CALLS.clear();
		this.runner.withBean(LockedService.class).withBean(NeedsLocks.class).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(LockedService.class).work();
			assertThat(CALLS).containsExactly("work", "work");
		});
	}

	static class Subscriber {

		final List<LockEvent> all = new CopyOnWriteArrayList<>();

		final List<LockEvent.Lost> lost = new CopyOnWriteArrayList<>();

		@EventListener
		void on(LockEvent event) {
			this.all.add(event);
		}

		@EventListener
		void onLost(LockEvent.Lost event) {
			this.lost.add(event);
		}

	}

	@Test
	void eventsArePublishedOnDemandOnly() {
		this.runner.withBean(Subscriber.class).run((context) -> {
			assertThat(context).doesNotHaveBean(LockListener.class);
			context.getBean(LockRegistry.class).acquire("key").release();
			assertThat(context.getBean(Subscriber.class).all).isEmpty();
		});
		this.runner.withBean(Subscriber.class).withPropertyValues("dlock.events.publish=true").run((context) -> {
			context.getBean(LockRegistry.class).acquire("key").release();
			assertThat(context.getBean(Subscriber.class).all).hasSize(2);
			assertThat(context.getBean(Subscriber.class).lost).isEmpty();
		});
	}

	@Test
	void lossByShutdownIsPublishedWhileThereAreListeners(CapturedOutput output) {
		this.runner.withBean(Subscriber.class)
			.withPropertyValues("dlock.events.publish=true", "dlock.shutdown-timeout=0s")
			.run((context) -> {
				Subscriber subscriber = context.getBean(Subscriber.class);
				context.getBean(LockRegistry.class).acquireAsync(LockRequest.of("key")).join();
				context.close();
				assertThat(subscriber.lost).singleElement()
					.satisfies((lost) -> assertThat(lost.held()).isLessThan(Duration.ofMinutes(1)));
				assertThat(output).doesNotContain("Lock listener");
			});
	}

}
