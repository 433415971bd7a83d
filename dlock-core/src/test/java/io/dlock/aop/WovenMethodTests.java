package io.dlock.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.OnBusy;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What no proxy can do, and what proxies have done already.
 */
@Tag("woven")
class WovenMethodTests {

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
	}

	/**
	 * The keys of the locks that the calling thread holds, innermost first. A key that is
	 * locked twice is there twice.
	 */
	private static List<String> held() {
		return LockContext.all().stream().map(LockHandle::key).toList();
	}

	private LeaseLockRegistry registry() {
		LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
		this.opened.add(registry);
		return registry;
	}

	private AnnotationConfigApplicationContext start(AdviceMode mode, LockRegistry registry, Class<?>... types) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		this.opened.add(context);
		context.registerBean(DistributedLockedBeanPostProcessor.class,
				() -> PostProcessors.create(() -> registry, mode));
		for (Class<?> type : types) {
			context.registerBean(type);
		}
		context.refresh();
		return context;
	}

	static class Orders {

		@DistributedLocked("'pay:' + #order")
		public List<String> pay(String order) {
			return held();
		}

		List<String> payWithin(String order) {
			return pay(order);
		}

		List<String> payPrivately(String order) {
			return hidden(order);
		}

		@DistributedLocked("'hidden:' + #order")
		private List<String> hidden(String order) {
			return held();
		}

		@DistributedLocked("'final:' + #order + #pieces")
		public final List<String> last(String order, long pieces) {
			return held();
		}

		@DistributedLocked("'static:' + #order")
		static List<String> ofClass(String order) {
			return held();
		}

		@DistributedLocked("#keys[0]")
		public List<String> recursive(String... keys) {
			return (keys.length > 1) ? recursive(List.of(keys).subList(1, keys.length).toArray(String[]::new)) : held();
		}

		@DistributedLocked("'stage'")
		public CompletableFuture<List<String>> stage() {
			return CompletableFuture.completedFuture(held());
		}

		@DistributedLocked("'mono'")
		public Mono<List<String>> mono() {
			return Mono.fromSupplier(WovenMethodTests::held);
		}

	}

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

	// one lock for one call

	static class Proxyable {

		@DistributedLocked("'pay:' + #order")
		public List<String> pay(String order) {
			return held();
		}

		public List<String> payWithin(String order) {
			return pay(order);
		}

	}

	@Test
	void proxyModeLocksOnceAndWhatPassesAProxy() {
		Proxyable orders = start(AdviceMode.PROXY, registry(), Proxyable.class).getBean(Proxyable.class);
		assertThat(AopUtils.isAopProxy(orders)).isTrue();
		assertThat(orders.pay("1")).containsExactly("pay:1");
		assertThat(orders.payWithin("2")).isEmpty();
	}

	/**
	 * A bean that has a proxy with this advice already.
	 */
	private Orders proxied(MethodInterceptor advice) {
		ProxyFactory factory = new ProxyFactory(new Orders());
		factory.addAdvice(advice);
		return (Orders) start(AdviceMode.ASPECTJ, registry()).getBean(DistributedLockedBeanPostProcessor.class)
			.postProcessAfterInitialization(factory.getProxy(), "orders");
	}

	@Test
	void lockIsOutsideOfAProxyThatExistsAndTakenOnce() {
		List<List<String>> seen = new ArrayList<>();
		Orders orders = proxied((call) -> {
			seen.add(held());
			return call.proceed();
		});
		assertThat(orders.pay("1")).containsExactly("pay:1");
		assertThat(seen).containsExactly(List.of("pay:1"));
		assertThat(orders.recursive("a", "b", "a")).containsExactly("a", "b", "a");
		assertThat(held()).isEmpty();
	}

	@Test
	void adviceMayCallTheMethodAgain() {
		Orders orders = proxied((call) -> {
			((ProxyMethodInvocation) call).invocableClone().proceed();
			return call.proceed();
		});
		assertThat(orders.pay("1")).containsExactly("pay:1");
	}

	@Test
	void adviceThatCallsWithOtherArgumentsIsLockedAgain() {
		Orders orders = proxied((call) -> {
			Object[] arguments = call.getArguments();
			arguments[0] = "other";
			return call.proceed();
		});
		assertThat(orders.pay("1")).containsExactly("pay:other", "pay:1");
	}

	@Test
	void callThatNeverArrivesLeavesNothingBehind() {
		Orders target = new Orders();
		Orders orders = proxied((call) -> List.of());
		assertThat(orders.pay("1")).isEmpty();
		assertThat(target.pay("1")).containsExactly("pay:1");
	}

	@Test
	void asynchronousMethodOfAProxyIsLockedOnce() {
		Orders orders = proxied((call) -> call.proceed());
		assertThat(orders.stage().join()).containsExactly("stage");
		Mono<List<String>> mono = orders.mono();
		assertThat(mono.block()).isEqualTo(mono.block()).isEqualTo(new Orders().mono().block());
	}

	// several contexts

	static class Whose {

		@DistributedLocked("'whose'")
		public boolean isOf(LeaseLockRegistry registry) {
			return registry.find("whose").isPresent();
		}

	}

	@Test
	void contextThatWasConfiguredLastProvidesTheLocks() {
		LeaseLockRegistry first = registry();
		LeaseLockRegistry second = registry();
		Whose whose = start(AdviceMode.ASPECTJ, first, Whose.class).getBean(Whose.class);
		assertThat(whose.isOf(first)).isTrue();
		AnnotationConfigApplicationContext context = start(AdviceMode.ASPECTJ, second, Whose.class);
		assertThat(whose.isOf(second)).isTrue();
		context.close();
		assertThat(whose.isOf(first)).isTrue();
	}

	@Test
	void contextInProxyModeDoesNotTurnTheAspectOff() {
		LeaseLockRegistry first = registry();
		LeaseLockRegistry second = registry();
		start(AdviceMode.ASPECTJ, first);
		Proxyable proxied = start(AdviceMode.PROXY, second, Proxyable.class).getBean(Proxyable.class);
		assertThat(proxied.pay("1")).as("of the proxy only").containsExactly("pay:1");
		assertThat(new Whose().isOf(first)).isTrue();
	}

}
