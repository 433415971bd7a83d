package io.dlock.aop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockMode;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.OnBusy;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Limits and modes that cannot be honoured: each is refused when its bean is created.
 */
class LimitAttributesTests {

	private final MemoryLockStore memory = new MemoryLockStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.memory, LockSettings.defaults());

	private final LeaseLockRegistry withoutMembers = new LeaseLockRegistry(exclusive(this.memory),
			LockSettings.defaults());

	private final GenericApplicationContext context = new GenericApplicationContext();

	/**
	 * A store of an application that knows exclusive locks only.
	 */
	private static LockStore exclusive(LockStore store) {
		return (LockStore) Proxy.newProxyInstance(LockStore.class.getClassLoader(), new Class<?>[] { LockStore.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("supportsMembers") || method.getName().equals("supportsFairLocks")) {
						return false;
					}
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	@AfterEach
	void close() {
		this.context.close();
		this.registry.close();
		this.withoutMembers.close();
	}

	private void start(LockRegistry used, Class<?> type) {
		this.context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("none", "0", "empty", "", "two", " 2 ")));
		this.context.getBeanFactory()
			.addEmbeddedValueResolver(this.context.getEnvironment()::resolveRequiredPlaceholders);
		this.context.registerBean(LockRegistry.class, () -> used);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> PostProcessors.create(() -> used));
		this.context.registerBean(type);
		this.context.refresh();
	}

	private void isRefused(LockRegistry used, Class<?> type, String description, String action) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(used, type)).satisfies((ex) -> {
			InvalidLockedMethodException invalid = invalid(ex);
			assertThat(invalid.description()).contains(description);
			assertThat(invalid.action()).contains(action);
		});
	}

	private static InvalidLockedMethodException invalid(Throwable failure) {
		return (failure instanceof InvalidLockedMethodException invalid) ? invalid : invalid(failure.getCause());
	}

	static class Zero {

		@DistributedLimit(name = "export", limit = "0")
		public void run() {
		}

	}

	static class TooHigh {

		@DistributedLimit(name = "export", limit = "1001")
		public void run() {
		}

	}

	static class Word {

		@DistributedLimit(name = "export", limit = "three")
		public void run() {
		}

	}

	static class Empty {

		@DistributedLimit(name = "export", limit = "${empty}")
		public void run() {
		}

	}

	static class ZeroByProperty {

		@DistributedLimit(name = "export", limit = "${none}")
		public void run() {
		}

	}

	static class Unknown {

		@DistributedLimit(name = "export", limit = "${exports.limit}")
		public void run() {
		}

	}

	static class WithoutKey {

		@DistributedLimit(limit = "3")
		public void run() {
		}

	}

	static class WrongKey {

		@DistributedLimit(key = "#customer", limit = "3")
		public void run() {
		}

	}

	static class WrongLease {

		@DistributedLimit(name = "export", limit = "3", lease = "30")
		public void run() {
		}

	}

	static class Skipped {

		@DistributedLimit(name = "export", limit = "3", onBusy = OnBusy.SKIP)
		public int run() {
			return 1;
		}

	}

	static final class Final {

		@DistributedLimit(name = "export", limit = "3")
		public void run() {
		}

	}

	static class MinHold {

		@DistributedLocked(name = "stock", mode = LockMode.SHARED, minHold = "10s")
		public void run() {
		}

	}

	static class Fair {

		@DistributedLocked(name = "stock", mode = LockMode.SHARED, fair = true)
		public void run() {
		}

	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					Zero | has the limit '0', which is not a number from 1 to 1000 | ${exports.limit:3}
					TooHigh | has the limit '1001' | Use a number
					Word | has the limit 'three' | Use a number
					Empty | has the limit '' | Use a number
					ZeroByProperty | has the limit '0' | Use a number
					Unknown | has the limit '${exports.limit}', which cannot be resolved | Define the property
					WithoutKey | @DistributedLimit on io.dlock.aop.LimitAttributesTests$WithoutKey.run has neither key nor name | name = "export"
					WrongKey | there is no variable #customer | Name a parameter
					WrongLease | has the lease '30', which has no unit | 30s
					Skipped | the primitive int | fallback
					Final | in a final class | interface
					Fair | has mode = SHARED and fair = true | mode = EXCLUSIVE
					MinHold | has mode = SHARED and a minHold | mode = EXCLUSIVE
					""")
	void c14LimitOrModeThatCannotBeHonouredIsRefused(String type, String description, String action)
			throws ClassNotFoundException {
		isRefused(this.registry, Class.forName(getClass().getName() + "$" + type), description, action);
	}

	static class Limited {

		@DistributedLimit(name = "export", limit = "${two}")
		public void run() {
		}

	}

	static class Shared {

		@DistributedLocked(name = "stock", mode = LockMode.SHARED)
		public void run() {
		}

	}

	@Test
	void storeWithExclusiveLocksOnlyIsToldOf() {
		isRefused(this.withoutMembers, Limited.class, "'export' cannot have a limit", "a store that has limits");
	}

	@Test
	void storeWithoutSharedLocksIsToldOf() {
		isRefused(this.withoutMembers, Shared.class, "Lock 'stock' cannot be shared", "mode = EXCLUSIVE");
	}

	static class FairAndExclusive {

		@DistributedLocked(name = "stock", fair = true)
		public void run() {
		}

	}

	@Test
	void storeWithoutFairLocksIsToldOf() {
		isRefused(this.withoutMembers, FairAndExclusive.class, "Lock 'stock' cannot be fair", "Change the annotation");
	}

	@Test
	void limitMayBeAPlaceholder() {
		assertThatNoException().isThrownBy(() -> start(this.registry, Limited.class));
	}

}
