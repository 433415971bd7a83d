package io.dlock.aop.aspectj;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.OnBusy;
import io.dlock.aop.InvalidLockedMethodException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.memory.Waiting;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Methods that no proxy can lock.
 */
@Tag("woven")
class WovenMethodTests extends AbstractWovenTests {

	@Test
	void callsThatPassNoProxyAreLocked() {
		Orders orders = start(AdviceMode.ASPECTJ, registry(), Orders.class).getBean(Orders.class);
		assertThat(AopUtils.isAopProxy(orders)).isFalse();
		assertThat(orders.pay("1")).containsExactly("pay:1");
		assertThat(orders.payWithin("2")).containsExactly("pay:2");
		assertThat(orders.payPrivately("3")).containsExactly("hidden:3");
		assertThat(orders.last("4", 5)).containsExactly("final:45");
		assertThat(Orders.ofClass("5")).containsExactly("static:5");
		assertThat(new Orders().pay("6")).containsExactly("pay:6");
		assertThat(orders.recursive("a", "b")).containsExactly("b", "a");
		assertThat(held()).isEmpty();
	}

	static class SpecialOrders extends Orders {

		@Override
		@DistributedLocked("'special:' + #order")
		public List<String> pay(String order) {
			return super.pay(order);
		}

	}

	@Test
	void eachOverriddenMethodHasItsOwnLock() {
		Orders orders = start(AdviceMode.ASPECTJ, registry(), SpecialOrders.class).getBean(SpecialOrders.class);
		assertThat(orders.pay("1")).containsExactly("pay:1", "special:1");
		assertThat(orders.last("1", 2)).containsExactly("final:12");
	}

	static class Exports {

		@DistributedLimit(name = "export", limit = "1")
		private List<String> run() {
			return held();
		}

		@DistributedLimit(name = "export", limit = "1")
		static CompletableFuture<List<String>> runLater() {
			return CompletableFuture.completedFuture(held());
		}

		@DistributedLocked(name = "stock", mode = LockMode.SHARED)
		private Optional<LockMode> read() {
			return LockHandle.current().map(LockHandle::mode);
		}

		@DistributedLocked(name = "stock", keys = { "#from", "#to" })
		private List<String> move(String from, String to) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = "#products")
		static CompletableFuture<List<String>> moveLater(List<String> products) {
			return CompletableFuture.completedFuture(held());
		}

		@DistributedLocked(name = "turnstile", waitTime = "20s", fair = true)
		private List<String> pass() {
			return held();
		}

		@DistributedLocked(name = "turnstile", waitTime = "20s", fair = true)
		static CompletableFuture<List<String>> passLater() {
			return CompletableFuture.completedFuture(held());
		}

	}

	@Test
	void limitsAndSharedLocksAreTaken() {
		Exports exports = start(AdviceMode.ASPECTJ, registry(), Exports.class).getBean(Exports.class);
		assertThat(exports.run()).containsExactly("limit:export");
		assertThat(Exports.runLater().join()).containsExactly("limit:export");
		assertThat(exports.read()).hasValue(LockMode.SHARED);
		assertThat(held()).isEmpty();
	}

	@Test
	void severalKeysAreLocked() {
		Exports exports = start(AdviceMode.ASPECTJ, registry(), Exports.class).getBean(Exports.class);
		assertThat(exports.move("pen", "book")).containsExactly("stock:pen", "stock:book");
		assertThat(Exports.moveLater(List.of("pen", "book", "pen")).join()).containsExactlyInAnyOrder("stock:pen",
				"stock:book");
		assertThat(held()).isEmpty();
	}

	@Test
	void fairCallsHaveAPlaceEach() {
		MemoryLockStore store = new MemoryLockStore();
		Exports exports = start(AdviceMode.ASPECTJ, registry(store), Exports.class).getBean(Exports.class);
		store.acquire(new AcquireCommand("turnstile", "elsewhere", Duration.ofSeconds(30), "another instance", ""));
		// the common pool may have one thread
		Executor threads = (call) -> new Thread(call).start();
		CompletableFuture<List<String>> blocking = CompletableFuture.supplyAsync(exports::pass, threads);
		CompletableFuture<List<String>> stage = Exports.passLater();
		Awaitility.await().until(() -> Waiting.processes(store, "turnstile") == 2);
		store.release("turnstile", "elsewhere");
		assertThat(blocking).succeedsWithin(Patience.EVENTUALLY).isEqualTo(List.of("turnstile"));
		assertThat(stage).succeedsWithin(Patience.EVENTUALLY).isEqualTo(List.of("turnstile"));
	}

	static class Generic<T> {

		@DistributedLocked("#p0")
		public List<String> run(T key) {
			return held();
		}

	}

	static class Specific extends Generic<String> {

		@Override
		@DistributedLocked("#p0")
		public List<String> run(String key) {
			return held();
		}

	}

	@Test
	void bridgeMethodTakesNoLockOfItsOwn() {
		Generic<String> specific = start(AdviceMode.ASPECTJ, registry(), Specific.class).getBean(Specific.class);
		assertThat(specific.run("key")).containsExactly("key");
	}

	@DistributedLocked("'value'")
	static class Value {

		@Override
		public boolean equals(Object other) {
			return held().isEmpty();
		}

		@Override
		public int hashCode() {
			return held().size();
		}

		public List<String> keys() {
			return held();
		}

	}

	@Test
	void annotationOfAClassDoesNotLockEqualsAndHashCode() {
		Value value = start(AdviceMode.ASPECTJ, registry(), Value.class).getBean(Value.class);
		assertThat(value.equals("other")).isTrue();
		assertThat(value.hashCode()).isZero();
		assertThat(value.keys()).containsExactly("value");
	}

	// before and after

	@Test
	void callWithoutAContextFails() {
		Orders orders = new Orders();
		assertThatIllegalStateException().isThrownBy(() -> orders.pay("1"))
			.withMessageContaining("Orders.pay")
			.withMessageContaining("before");
		AnnotationConfigApplicationContext context = start(AdviceMode.ASPECTJ, registry());
		assertThat(orders.pay("1")).containsExactly("pay:1");
		context.close();
		assertThatIllegalStateException().isThrownBy(() -> orders.pay("1"))
			.withMessageContaining("after it was closed");
	}

	static class NotWoven implements Api {

		@Override
		public void run() {
		}

	}

	interface Api {

		@DistributedLocked("'key'")
		void run();

	}

	@Test
	void methodThatIsNotWovenIsRefused() {
		LeaseLockRegistry registry = registry();
		assertThatExceptionOfType(BeanCreationException.class)
			.isThrownBy(() -> start(AdviceMode.ASPECTJ, registry, NotWoven.class))
			.havingRootCause()
			.isInstanceOf(InvalidLockedMethodException.class)
			.withMessageContaining("NotWoven.run")
			.withMessageContaining("-javaagent:aspectjweaver.jar")
			.withMessageContaining("annotate the method or class itself");
		assertThatIllegalStateException().as("the context is gone").isThrownBy(() -> new Orders().pay("1"));
	}

	static class StaticWithFallback {

		@DistributedLocked(fallback = "busy")
		static void run() {
		}

		void busy() {
		}

	}

	@Test
	void fallbackOfAStaticMethodIsStatic() {
		LeaseLockRegistry registry = registry();
		assertThatExceptionOfType(BeanCreationException.class)
			.isThrownBy(() -> start(AdviceMode.ASPECTJ, registry, StaticWithFallback.class))
			.havingRootCause()
			.withMessageContaining("Make the fallback static");
	}

	static class Broken {

		@DistributedLocked(key = "'key'", onBusy = OnBusy.SKIP)
		int run() {
			return 1;
		}

	}

	@Test
	void methodOfAnObjectThatIsNoBeanIsCheckedWhenItIsCalled() {
		start(AdviceMode.ASPECTJ, registry());
		assertThatExceptionOfType(InvalidLockedMethodException.class).isThrownBy(() -> new Broken().run());
	}

}
