package io.dlock.aop.aspectj;

import java.util.ArrayList;
import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls that are locked by proxies, by the aspect, or by both, and their contexts.
 */
@Tag("woven")
class WovenAndProxiedTests extends AbstractWovenTests {

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

	@DistributedLocked("'type'")
	interface LockedType {

		List<String> run();

	}

	static class OfLockedType implements LockedType {

		@Override
		public List<String> run() {
			return held();
		}

	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void classOfAProxyIsNotLockedBecauseItInheritsAnAnnotation(boolean proxyTargetClass) {
		start(AdviceMode.ASPECTJ, registry());
		ProxyFactory factory = new ProxyFactory(new OfLockedType());
		factory.setProxyTargetClass(proxyTargetClass);
		assertThat(((LockedType) factory.getProxy()).run()).containsExactly("type");
	}

	@Test
	void callWithTheSameArgumentWithinTheMethodIsAnother() {
		Orders orders = proxied((call) -> call.proceed());
		assertThat(orders.along(new String[] { "begin" })).containsExactly("end", "begin");
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

	@Test
	void callOfTheTargetItselfIsLockedAfterThatOfItsProxy() {
		Orders orders = proxied((call) -> List.of());
		Orders target = (Orders) AopProxyUtils.getSingletonTarget(orders);
		assertThat(orders.pay("1")).isEmpty();
		assertThat(target.pay("1")).containsExactly("pay:1");
	}

	/**
	 * The proxy and the woven method have a number each.
	 */
	@Test
	void callWithAPrimitiveArgumentIsLockedOnce() {
		assertThat(proxied((call) -> call.proceed()).take(1000)).containsExactly("take:1000");
	}

}
