package io.dlock.aop;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.UnaryOperator;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.DistributedLocked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Lambdas, final classes and inherited methods, of which no proxy can be a subclass or
 * which have no annotation of their own: what counts is in their interfaces.
 */
class BehindInterfacesTests extends AbstractBehindInterfacesTests {

	static class Sending {

		public List<String> send(String order) {
			return held();
		}

	}

	static class InheritedClient extends Sending implements Client {

	}

	/**
	 * The method of the class has no annotation, also none of an interface.
	 */
	@Test
	void methodThatIsInheritedFromAClassWithoutTheInterfaceIsRefused() {
		assertThatExceptionOfType(BeanCreationException.class)
			.isThrownBy(() -> start(true, (beans) -> beans.registerBean(InheritedClient.class)))
			.havingRootCause()
			.isInstanceOf(InvalidLockedMethodException.class)
			.withMessageContaining("Client.send")
			.withMessageContaining("inherits it from " + Sending.class.getName())
			.withMessageContaining("Override the method in InheritedClient, or annotate that of Sending");
	}

	@Test
	void lambdaIsLockedByItsInterface() {
		Client client = (order) -> held();
		Client bean = bean(Client.class, client);
		assertThat(bean.send("42")).containsExactly("clients:42");
		assertThat(bean.sendOrNot("43")).containsExactly("clients:43");
		assertThat(bean.free()).isEmpty();
		holdElsewhere("clients:44");
		assertThat(bean.sendOrNot("44")).containsExactly("instead of 44");
	}

	interface Nameless {

		@DistributedLocked
		List<String> run();

	}

	/**
	 * The names of lambdas and proxies are others in each process.
	 */
	@Test
	void defaultKeyNamesTheInterface() {
		Nameless lambda = BehindInterfacesTests::held;
		MethodInterceptor http = (call) -> held();
		InvocationHandler handler = (proxy, method, arguments) -> held();
		start(true, (beans) -> {
			beans.registerBean("lambda", Nameless.class, () -> lambda);
			beans.registerBean("client", Nameless.class, () -> ProxyFactory.getProxy(Nameless.class, http));
			beans.registerBean("proxy", Nameless.class, () -> (Nameless) Proxy
				.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Nameless.class }, handler));
		});
		for (String name : List.of("lambda", "client", "proxy")) {
			assertThat(this.context.getBean(name, Nameless.class).run()).as(name)
				.containsExactly(Nameless.class.getName() + "#run()");
		}
	}

	static final class FinalService implements Client {

		@Override
		public List<String> send(String order) {
			return held();
		}

		@Override
		@DistributedLocked(name = "final", key = "#own")
		public List<String> sendOrNot(String own) {
			return held();
		}

	}

	record RecordService(String name) implements Client {

		@Override
		public List<String> send(String order) {
			return held();
		}

	}

	enum EnumService implements Client {

		ONE;

		@Override
		public List<String> send(String order) {
			return held();
		}

	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void finalClassIsLockedByItsInterfaces(boolean proxyTargetClass) {
		start(proxyTargetClass, (beans) -> {
			beans.registerBean("class", Client.class, FinalService::new);
			beans.registerBean("record", Client.class, () -> new RecordService("name"));
			beans.registerBean("enum", Client.class, () -> EnumService.ONE);
		});
		for (String name : List.of("class", "record", "enum")) {
			Client bean = this.context.getBean(name, Client.class);
			assertThat(bean.send("42")).as(name).containsExactly("clients:42");
			assertThat(bean.free()).as(name).isEmpty();
		}
		assertThat(this.context.getBean("class", Client.class).sendOrNot("42")).containsExactly("final:42");
	}

	static class FinalMethod implements Client {

		@Override
		public final List<String> send(String order) {
			return held();
		}

	}

	@Test
	void finalMethodIsLockedByAProxyForItsInterfaceOnly() {
		start(false, (beans) -> beans.register(FinalMethod.class));
		assertThat(this.context.getBean(Client.class).send("42")).containsExactly("clients:42");
		try (AnnotationConfigApplicationContext other = new AnnotationConfigApplicationContext()) {
			other.registerBean(DistributedLockedBeanPostProcessor.class,
					() -> PostProcessors.create(() -> this.registry, AdviceMode.PROXY));
			other.register(FinalMethod.class);
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(other::refresh)
				.withStackTraceContaining("it is final");
		}
	}

	@FunctionalInterface
	interface WrongKey extends UnaryOperator<String> {

		@Override
		@DistributedLocked("#oder")
		String apply(String order);

	}

	@Test
	void messageForInterfaceMethodFitsInterface() {
		WrongKey lambda = (order) -> order;
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> bean(WrongKey.class, lambda))
			.withStackTraceContaining("no variable #oder");
	}

}
