package io.dlock.aop;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Beans whose class can have no subclass, or is made while the application runs: what
 * counts is in their interfaces.
 */
class BehindInterfacesTests {

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final List<LockHandle> heldElsewhere = new ArrayList<>();

	@AfterEach
	void close() {
		this.context.close();
		this.heldElsewhere.forEach(LockHandle::release);
		this.registry.close();
	}

	private <T> T bean(Class<T> type, Object bean) {
		start(true, (beans) -> beans.registerBean("bean", Object.class, () -> bean));
		return this.context.getBean("bean", type);
	}

	private void start(boolean proxyTargetClass, Consumer<AnnotationConfigApplicationContext> beans) {
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry, AdviceMode.PROXY);
		postProcessor.setProxyTargetClass(proxyTargetClass);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		beans.accept(this.context);
		this.context.refresh();
	}

	private static List<String> held() {
		return LockContext.all().stream().map(LockHandle::key).toList();
	}

	@FunctionalInterface
	interface Client {

		@DistributedLocked(name = "clients", key = "#order")
		List<String> send(String order);

		@DistributedLocked(name = "clients", key = "#order", fallback = "instead", waitTime = "0s")
		default List<String> sendOrNot(String order) {
			return held();
		}

		default List<String> instead(String order) {
			return List.of("instead of " + order);
		}

		default List<String> free() {
			return held();
		}

	}

	interface Repository<T> {

		List<String> save(T order);

	}

	interface OrderRepository extends Repository<String> {

		@DistributedLocked(name = "orders", key = "#order")
		@Override
		List<String> save(String order);

		@DistributedLocked(name = "orders", key = "#order")
		CompletableFuture<List<String>> saveLater(String order);

	}

	@DistributedLocked("'all'")
	interface AllLocked extends Repository<String> {

	}

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

	private void holdElsewhere(String key) {
		this.heldElsewhere.add(CompletableFuture.supplyAsync(() -> this.registry.acquire(key)).join());
	}

	@Test
	void proxyOfTheJdkIsLockedByItsInterfaces() {
		InvocationHandler handler = (proxy, method, arguments) -> held();
		Client bean = bean(Client.class,
				Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Client.class }, handler));
		assertThat(bean.send("42")).containsExactly("clients:42");
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

	/**
	 * As Spring makes HTTP clients and message gateways.
	 */
	@Test
	void proxyWithoutATargetIsLockedByItsInterfaces() {
		MethodInterceptor http = (call) -> held();
		Client bean = bean(Client.class, ProxyFactory.getProxy(Client.class, http));
		assertThat(bean.send("42")).containsExactly("clients:42");
		assertThat(bean.free()).isEmpty();
		holdElsewhere("clients:43");
		MethodInterceptor methods = (call) -> call.getMethod().getName().equals("instead")
				? List.of("instead of " + call.getArguments()[0]) : held();
		try (AnnotationConfigApplicationContext other = new AnnotationConfigApplicationContext()) {
			other.registerBean(DistributedLockedBeanPostProcessor.class,
					() -> PostProcessors.create(() -> this.registry, AdviceMode.PROXY));
			other.registerBean("bean", Object.class, () -> ProxyFactory.getProxy(Client.class, methods));
			other.refresh();
			assertThat(other.getBean("bean", Client.class).sendOrNot("43")).containsExactly("instead of 43");
		}
	}

	static class Stored {

		public List<String> save(Object order) {
			return held();
		}

	}

	/**
	 * As Spring Data makes repositories: the class of the target has the methods of
	 * others and is no implementation of the interface.
	 */
	private static Object repository(Class<?> type) {
		ProxyFactory factory = new ProxyFactory();
		factory.setTarget(new Stored());
		factory.setInterfaces(type);
		factory.addAdvice((MethodInterceptor) (call) -> {
			if (call.getMethod().getDeclaringClass() == Object.class) {
				return call.proceed();
			}
			return (call.getMethod().getReturnType() == CompletableFuture.class)
					? CompletableFuture.completedFuture(held()) : held();
		});
		return factory.getProxy();
	}

	static class LockedStored extends Stored implements Client {

		@Override
		public List<String> send(String order) {
			return held();
		}

	}

	@Test
	void proxyWhoseTargetIsLockedAsWellLocksOnce() {
		ProxyFactory factory = new ProxyFactory(new LockedStored());
		factory.addInterface(OrderRepository.class);
		factory.addAdvice((MethodInterceptor) (call) -> held());
		Object bean = bean(Object.class, factory.getProxy());
		assertThat(((Client) bean).send("42")).containsExactly("clients:42");
		assertThat(((OrderRepository) bean).save("42")).containsExactly("orders:42");
	}

	@Test
	void proxyWithMoreInterfacesThanItsTargetIsLockedByThem() {
		OrderRepository bean = bean(OrderRepository.class, repository(OrderRepository.class));
		assertThat(bean.save("42")).containsExactly("orders:42");
		assertThat(bean.saveLater("42").join()).containsExactly("orders:42");
		Repository<String> generic = bean;
		assertThat(generic.save("43")).containsExactly("orders:43");
	}

	@Test
	void annotationOnTheInterfaceOfAProxyLocksWhatItInherits() {
		AllLocked bean = bean(AllLocked.class, repository(AllLocked.class));
		assertThat(bean.save("42")).containsExactly("all");
		assertThat(bean.toString()).contains("Stored");
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

	interface CachedRepository extends Repository<String> {

		@DistributedLocked(name = "orders", key = "#order", fallback = "cached", waitTime = "0s")
		@Override
		List<String> save(String order);

		List<String> cached(String order);

	}

	/**
	 * The target has no such method.
	 */
	@Test
	void fallbackOfARepositoryIsCalledOnItsProxy() {
		CachedRepository bean = bean(CachedRepository.class, repository(CachedRepository.class));
		assertThat(bean.save("42")).containsExactly("orders:42");
		holdElsewhere("orders:43");
		assertThat(bean.save("43")).isEmpty();
	}

	/**
	 * The proxy is there and locks, in this mode as well.
	 */
	@Test
	void proxyIsLockedByItsInterfacesInTheModeOfAspectj() {
		MethodInterceptor http = (call) -> held();
		this.context.registerBean(DistributedLockedBeanPostProcessor.class,
				() -> PostProcessors.create(() -> this.registry, AdviceMode.ASPECTJ));
		this.context.registerBean("repository", Object.class, () -> repository(CachedRepository.class));
		this.context.registerBean("client", Object.class, () -> ProxyFactory.getProxy(OrderRepository.class, http));
		this.context.refresh();
		assertThat(this.context.getBean("client", OrderRepository.class).save("42")).containsExactly("orders:42");
		CachedRepository bean = this.context.getBean(CachedRepository.class);
		assertThat(bean.save("42")).containsExactly("orders:42");
		holdElsewhere("orders:43");
		assertThat(bean.save("43")).isEmpty();
	}

	/**
	 * The inner proxy is no bean, and the outer one has one interface more.
	 */
	@Test
	void introductionToAProxyIsLockedByItsInterfaces() {
		ProxyFactory outer = new ProxyFactory(repository(AllLocked.class));
		outer.addAdvisor(new DefaultIntroductionAdvisor(new DelegatingIntroductionInterceptor(new Introduced())));
		AllLocked bean = bean(AllLocked.class, outer.getProxy());
		assertThat(bean).isInstanceOf(Marked.class);
		assertThat(bean.save("42")).containsExactly("all");
	}

	interface Marked {

	}

	static class Introduced implements Marked {

	}

}
