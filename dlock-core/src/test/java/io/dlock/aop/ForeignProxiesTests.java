package io.dlock.aop;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.DistributedLocked;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Beans that are proxies before dlock sees them, as the JDK, HTTP clients and Spring Data
 * make them, are locked by their interfaces.
 */
class ForeignProxiesTests extends AbstractBehindInterfacesTests {

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

	@Test
	void proxyOfTheJdkIsLockedByItsInterfaces() {
		InvocationHandler handler = (proxy, method, arguments) -> held();
		Client bean = bean(Client.class,
				Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Client.class }, handler));
		assertThat(bean.send("42")).containsExactly("clients:42");
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

	@Test
	void registryOutlivesAProxyThatIsLockedByItsInterfaces() {
		bean(OrderRepository.class, repository(OrderRepository.class));
		assertThat(this.context.getBean(DistributedLockedBeanPostProcessor.class).lockedBeans())
			.containsExactly("bean");
	}

}
