package io.dlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.core.annotation.AliasFor;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.OnBusy;
import io.dlock.store.memory.Waiting;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class DistributedLockedTests extends AbstractDistributedLockedTests {

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
		assertThat(AopUtils.isAopProxy(orders)).isEqualTo(PostProcessors.MODE == AdviceMode.PROXY);
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

	static class Turnstile {

		@DistributedLocked(name = "turnstile", waitTime = "30s", fair = true)
		public void pass() {
		}

		@DistributedLocked(name = "turnstile", waitTime = "30s", fair = true)
		public CompletableFuture<Void> passLater() {
			return CompletableFuture.completedFuture(null);
		}

		@DistributedLocked(name = "turnstile", waitTime = "30s", fair = true)
		public Mono<String> passReactively() {
			return Mono.just("passed");
		}

	}

	@Test
	void fairCallsHaveAPlaceEach() {
		Turnstile turnstile = bean(Turnstile.class);
		holdElsewhere("turnstile");
		// the common pool may have one thread
		Executor threads = (call) -> new Thread(call).start();
		CompletableFuture<Void> first = CompletableFuture.runAsync(turnstile::pass, threads);
		CompletableFuture<Void> second = CompletableFuture.runAsync(turnstile::pass, threads);
		CompletableFuture<Void> stage = turnstile.passLater();
		CompletableFuture<String> mono = turnstile.passReactively().toFuture();
		Awaitility.await().until(() -> Waiting.processes(this.store, "turnstile") == 4);
		this.store.release("turnstile", "elsewhere");
		assertThat(CompletableFuture.allOf(first, second, stage, mono)).succeedsWithin(Patience.EVENTUALLY);
	}

	static class Recursive {

		@DistributedLocked(name = "tree", waitTime = "0s", reentrant = false)
		public String visit(Supplier<String> child) {
			return child.get();
		}

		@DistributedLocked(name = "tree", waitTime = "0s", reentrant = false)
		public CompletableFuture<String> visitLater(Supplier<CompletableFuture<String>> child) {
			return child.get();
		}

	}

	@Test
	void nonReentrantMethodExcludesItsOwnCallers() {
		Recursive tree = bean(Recursive.class);
		assertThat(tree.visit(() -> "leaf")).isEqualTo("leaf");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> tree.visit(() -> tree.visit(() -> "leaf")));
		assertThat(tree.visitLater(() -> tree.visitLater(() -> CompletableFuture.completedFuture("leaf"))))
			.failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBusyException.class);
		assertThat(this.store.find("tree")).isEmpty();
	}

	abstract static class Report {

		@DistributedLocked
		public String create() {
			return LockHandle.current().map(LockHandle::key).orElse("none");
		}

	}

	static class Daily extends Report {

	}

	@Test
	void inheritedMethodHasALockOfItsOwnInEachClass() {
		assertThat(bean(Daily.class).create()).isEqualTo(Daily.class.getName() + "#create()");
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
			.withMessageContaining("java.lang.Object");
	}

	@Test
	void blankKeyIsRefusedDespiteName() {
		Orders orders = bean(Orders.class);
		assertThatIllegalArgumentException().isThrownBy(() -> orders.pay(new Order(" ", UUID.randomUUID())))
			.withMessageContaining("blank");
	}

	@Test
	void hostileArgumentIsOnlyData() {
		Orders orders = bean(Orders.class);
		String hostile = "T(java.lang.Runtime).getRuntime().exec('true')";
		assertThat(orders.any(hostile)).isEqualTo(hostile);
	}

	@Test
	void r49UnfinishedWorkIsFoundIfDeclaredTypeIsOpen() {
		Orders orders = bean(Orders.class);
		assertThat(orders.anything("text")).isEqualTo("text");
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> orders.anything(new CompletableFuture<>()))
			.withMessageContaining("CompletableFuture");
	}

	// where the annotation may stand

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLocked(name = "stock", lease = "20s", onBusy = OnBusy.SKIP)
	@interface StockLocked {

		@AliasFor(annotation = DistributedLocked.class, attribute = "key")
		String product();

	}

	@DistributedLocked("'inherited'")
	interface Api {

		String onInterface(String id);

	}

	static class ByInterface implements Api {

		@Override
		public String onInterface(String id) {
			return LockHandle.current().map(LockHandle::key).orElse("none");
		}

	}

	@DistributedLocked(name = "class-wide")
	static class Everywhere {

		@StockLocked(product = "#product")
		public @Nullable String meta(String product) {
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
	void annotationStandsOnInterfaces() {
		assertThat(bean(ByInterface.class).onInterface("7")).isEqualTo("inherited");
	}

	@Test
	void annotationStandsOnMethodsClassesAndAnnotations() {
		Everywhere everywhere = bean(Everywhere.class);
		assertThat(everywhere.meta("book")).isEqualTo("stock:book");
		assertThat(everywhere.byClass()).isEqualTo("class-wide");
		assertThat(everywhere.notPublic()).isEqualTo("none");
		holdElsewhere("stock:book");
		assertThat(everywhere.meta("book")).isNull();
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
