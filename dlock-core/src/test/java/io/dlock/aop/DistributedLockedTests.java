package io.dlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.env.MapPropertySource;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class DistributedLockedTests {

	private final MemoryLockStore store = new MemoryLockStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.defaults()
				.withCommandTimeout(Duration.ofMillis(50))
				.withWaitTime(Duration.ZERO)
				.withShutdownTimeout(Duration.ZERO));

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	@AfterEach
	void close() {
		this.context.close();
		this.registry.close();
	}

	private <T> T bean(Class<T> type) {
		DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(() -> this.registry);
		postProcessor.setProxyTargetClass(true);
		this.context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("orders.lease", "20s", "orders.tenant", "acme")));
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		this.context.registerBean(LockRegistry.class, () -> this.registry);
		this.context.registerBean(type);
		this.context.refresh();
		return this.context.getBean(type);
	}

	private void holdElsewhere(String key) {
		this.store.acquire(new AcquireCommand(key, "elsewhere", Duration.ofSeconds(30), "another instance", ""));
	}

	// what a locked method sees and locks

	record Order(String id, UUID customer) {

	}

	static class Orders {

		String lockedKey() {
			return LockHandle.current().map(LockHandle::key).orElse("none");
		}

		@DistributedLocked(key = "#order.id", name = "orders")
		String pay(Order order) {
			return lockedKey();
		}

		@DistributedLocked(key = "#p0.customer", lease = "${orders.lease}", waitTime = "0s",
				reason = "why ${orders.tenant}")
		public String customer(Order order) {
			return lockedKey();
		}

		@DistributedLocked("'${orders.tenant}:' + #first + '/' + #a1")
		public String composed(int first, long second) {
			return lockedKey();
		}

		@DistributedLocked("'nightly'")
		protected String constant() {
			return lockedKey();
		}

		@DistributedLocked
		public String perMethod(List<String> argument, int... numbers) {
			return lockedKey();
		}

		@DistributedLocked(name = "nightly-run")
		public String named() {
			return lockedKey();
		}

		@DistributedLocked("#root.method.name")
		public String root() {
			return lockedKey();
		}

		@DistributedLocked("#order?.id")
		public String maybe(Order order) {
			return lockedKey();
		}

		@DistributedLocked("#value")
		public String any(Object value) {
			return lockedKey();
		}

		public String unlocked() {
			return lockedKey();
		}

		@DistributedLocked("'anything'")
		public Object anything(Object result) {
			return result;
		}

		@DistributedLocked("#order.id")
		public String failing(Order order) {
			throw new IllegalStateException("of the body");
		}

	}

	@Test
	void keyIsEvaluatedOverTheArguments() {
		Orders orders = bean(Orders.class);
		Order order = new Order("42", UUID.fromString("00000000-0000-0000-0000-000000000007"));
		assertThat(AopUtils.isAopProxy(orders)).isTrue();
		assertThat(orders.pay(order)).isEqualTo("orders:42");
		assertThat(orders.customer(order)).isEqualTo("00000000-0000-0000-0000-000000000007");
		assertThat(orders.composed(1, 2L)).isEqualTo("acme:1/2");
		assertThat(orders.constant()).isEqualTo("nightly");
		assertThat(orders.perMethod(List.of())).isEqualTo(Orders.class.getName() + "#perMethod(java.util.List,int[])");
		assertThat(orders.named()).isEqualTo("nightly-run");
		assertThat(orders.root()).isEqualTo("root");
		assertThat(orders.unlocked()).isEqualTo("none");
		assertThat(this.store.find("orders:42")).isEmpty();
	}

	@Test
	void lockIsReleasedWhenTheMethodThrows() {
		Orders orders = bean(Orders.class);
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> orders.failing(new Order("42", UUID.randomUUID())))
			.withMessage("of the body");
		assertThat(this.store.find("42")).isEmpty();
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void nullKeyIsAnErrorThatNamesTheExpression() {
		Orders orders = bean(Orders.class);
		assertThatIllegalArgumentException().isThrownBy(() -> orders.maybe(null))
			.withMessageContaining("'#order?.id'")
			.withMessageContaining("Orders.maybe")
			.withMessageContaining("null");
		assertThatIllegalArgumentException().isThrownBy(() -> orders.pay(null)).withMessageContaining("#order.id");
	}

	@Test
	void keyThatIsNoTextIsAnError() {
		Orders orders = bean(Orders.class);
		assertThat(orders.any(7L)).isEqualTo("7");
		assertThat(orders.any(OnBusy.SKIP)).isEqualTo("SKIP");
		assertThatIllegalArgumentException().isThrownBy(() -> orders.any("  ")).withMessageContaining("blank");
		assertThatIllegalArgumentException().isThrownBy(() -> orders.any(new Object()))
			.withMessageContaining("toString");
		assertThatIllegalArgumentException().isThrownBy(() -> orders.any(new int[1])).withMessageContaining("int[]");
	}

	@Test
	void hostileArgumentIsOnlyData() {
		Orders orders = bean(Orders.class);
		String hostile = "T(java.lang.Runtime).getRuntime().exec('true')";
		assertThat(orders.any(hostile)).isEqualTo(hostile);
	}

	@Test
	void r49WorkThatIsNotDoneIsFoundOutWhenTheDeclaredTypeDoesNotTell() {
		Orders orders = bean(Orders.class);
		assertThat(orders.anything("text")).isEqualTo("text");
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> orders.anything(new CompletableFuture<>()))
			.withMessageContaining("CompletableFuture");
	}

	// busy

	static class Busy {

		private int runs;

		@DistributedLocked("'busy'")
		public void throwing() {
			this.runs++;
		}

		@DistributedLocked(key = "'busy'", onBusy = OnBusy.SKIP)
		public String skipping() {
			this.runs++;
			return "ran";
		}

		@DistributedLocked(key = "'busy'", onBusy = OnBusy.SKIP)
		public Optional<String> skippingOptional() {
			this.runs++;
			return Optional.of("ran");
		}

		@DistributedLocked(key = "'busy'", onBusy = OnBusy.SKIP)
		public void skippingVoid() {
			this.runs++;
		}

		@DistributedLocked(key = "'busy'", fallback = "instead")
		public int fallingBack(int number) {
			this.runs++;
			return number;
		}

		private int instead(int number) {
			assertThat(LockHandle.current()).isEmpty();
			return -number;
		}

		@DistributedLocked(key = "'free'", onBusy = OnBusy.SKIP)
		public String bodyThatMeetsABusyLock(Supplier<String> other) {
			return other.get();
		}

		public int getRuns() {
			return this.runs;
		}

	}

	@Test
	void busyLockIsThrownSkippedOrReplaced() {
		Busy busy = bean(Busy.class);
		holdElsewhere("busy");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(busy::throwing)
			.withMessageContaining("another instance");
		assertThat(busy.skipping()).isNull();
		assertThat(busy.skippingOptional()).isEmpty();
		busy.skippingVoid();
		assertThat(busy.fallingBack(7)).isEqualTo(-7);
		assertThat(busy.getRuns()).as("the method never runs without its lock").isZero();
		this.store.clear();
		busy.throwing();
		assertThat(busy.skipping()).isEqualTo("ran");
		assertThat(busy.skippingOptional()).contains("ran");
		assertThat(busy.fallingBack(7)).isEqualTo(7);
		assertThat(busy.getRuns()).isEqualTo(4);
	}

	@Test
	void busyLockInsideTheBodyIsNotTakenForOurs() {
		Busy busy = bean(Busy.class);
		holdElsewhere("other");
		assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> busy.bodyThatMeetsABusyLock(() -> this.registry.acquire("other").key()));
	}

	// lost

	static class Losing {

		@DistributedLocked(key = "'lost'", lease = "300ms", renew = false)
		public String throwing() {
			awaitLoss();
			return "done";
		}

		@DistributedLocked(key = "'lost'", lease = "300ms", renew = false)
		public String throwingBoth() {
			awaitLoss();
			throw new IllegalStateException("of the body");
		}

		@DistributedLocked(key = "'lost'", lease = "300ms", renew = false, onLost = OnLost.IGNORE)
		public String ignoring() {
			awaitLoss();
			return "done";
		}

		@DistributedLocked(key = "'lost'", lease = "300ms", renew = false, onLost = OnLost.INTERRUPT)
		public String interrupted() throws InterruptedException {
			new CountDownLatch(1).await();
			return "never";
		}

		@DistributedLocked(key = "'kept'", lease = "300ms")
		public String renewed(Supplier<String> body) {
			return body.get();
		}

		private static void awaitLoss() {
			LockHandle handle = LockHandle.current().orElseThrow();
			Awaitility.await().until(() -> !handle.isValid());
		}

	}

	@Test
	void r9LossIsThrownAfterTheBody() {
		Losing losing = bean(Losing.class);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(losing::throwing).withMessageContaining("'lost'");
		IllegalStateException ex = catchThrowableOfType(IllegalStateException.class, losing::throwingBoth);
		assertThat(ex).hasMessage("of the body");
		assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
		assertThat(losing.ignoring()).isEqualTo("done");
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void lossInterruptsTheBodyAndNothingElse() {
		Losing losing = bean(Losing.class);
		InterruptedException ex = catchThrowableOfType(InterruptedException.class, losing::interrupted);
		assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void lockIsRenewedWhileTheMethodRuns() {
		Losing losing = bean(Losing.class);
		long start = System.nanoTime();
		assertThat(losing.renewed(() -> {
			Awaitility.await().until(() -> System.nanoTime() - start > Duration.ofMillis(1000).toNanos());
			return LockHandle.current().orElseThrow().isValid() ? "valid" : "lost";
		})).isEqualTo("valid");
	}

	// where the annotation may stand

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLocked(name = "stock", lease = "10s", onBusy = OnBusy.SKIP)
	@interface StockLocked {

		@AliasFor(annotation = DistributedLocked.class, attribute = "key")
		String product();

	}

	interface Api {

		@DistributedLocked("#id")
		String onInterface(String id);

	}

	@DistributedLocked(name = "class-wide")
	static class Everywhere implements Api {

		@Override
		public String onInterface(String id) {
			return LockHandle.current().map(LockHandle::key).orElse("none");
		}

		@StockLocked(product = "#product")
		public String meta(String product) {
			return LockHandle.current().map(LockHandle::key).orElse("none");
		}

		public String byClass() {
			return LockHandle.current().map(LockHandle::key).orElse("none");
		}

		String notPublic() {
			return LockHandle.current().map(LockHandle::key).orElse("none");
		}

	}

	@Test
	void annotationStandsOnMethodsClassesInterfacesAndAnnotations() {
		Everywhere everywhere = bean(Everywhere.class);
		assertThat(everywhere.onInterface("7")).isEqualTo("7");
		assertThat(everywhere.meta("book")).isEqualTo("stock:book");
		assertThat(everywhere.byClass()).isEqualTo("class-wide");
		assertThat(everywhere.notPublic()).isEqualTo("none");
		holdElsewhere("stock:book");
		assertThat(everywhere.meta("book")).isNull();
	}

	@Test
	void reentrantCallsShareTheLock() {
		Losing losing = bean(Losing.class);
		long[] tokens = new long[2];
		losing.renewed(() -> {
			tokens[0] = LockHandle.current().orElseThrow().token();
			return losing.renewed(() -> {
				tokens[1] = LockHandle.current().orElseThrow().token();
				return "inner";
			});
		});
		assertThat(tokens[0]).isEqualTo(tokens[1]);
		assertThat(this.store.find("kept")).isEmpty();
	}

	@Test
	void runningMethodShowsWhyTheLockIsHeld() {
		Losing losing = bean(Losing.class);
		List<String> reasons = new ArrayList<>();
		losing.renewed(() -> {
			reasons.add(this.registry.find("kept").orElseThrow().reason());
			return "";
		});
		assertThat(reasons).containsExactly("Losing.renewed");
	}

	@Test
	void beanWithoutTheAnnotationIsNotProxied() {
		assertThat(AopUtils.isAopProxy(bean(StringBuilder.class))).isFalse();
	}

	@Test
	void lockOfTheRegistryExcludesTheMethodWithTheSameKey() {
		Orders orders = bean(Orders.class);
		LockHandle handle = this.registry.acquireAsync(LockRequest.of("orders:42")).join();
		Order order = new Order("42", UUID.randomUUID());
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> orders.pay(order));
		handle.release();
		assertThat(orders.pay(order)).isEqualTo("orders:42");
	}

}
