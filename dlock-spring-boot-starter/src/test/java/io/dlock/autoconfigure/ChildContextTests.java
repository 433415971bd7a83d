package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.aop.InvalidLockedMethodException;
import io.dlock.autoconfigure.actuate.DlocksEndpointAutoConfiguration;
import io.dlock.autoconfigure.actuate.console.ConsoleDescriptor;
import io.dlock.autoconfigure.actuate.console.DlocksConsole;
import io.dlock.autoconfigure.actuate.console.DlocksConsoleAutoConfiguration;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Applications with more than one context: each locks its beans, and all have one
 * registry.
 */
class ChildContextTests {

	static class Service {

		@DistributedLocked("'service'")
		public List<String> run() {
			return LockContext.all().stream().map(LockHandle::key).toList();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class })
	@Import(Service.class)
	static class WithDlock {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Service.class)
	static class WithoutDlock {

	}

	@RestController
	static class LockedController {

		@GetMapping("/locks")
		@DistributedLocked("'web'")
		public String locks() {
			return LockContext.all().stream().map(LockHandle::key).collect(Collectors.joining(" "));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(LockedController.class)
	static class Web {

	}

	@Configuration(proxyBeanMethods = false)
	static class Plain {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DataSourceAutoConfiguration.class)
	static class WithDataSource {

	}

	private static SpringApplicationBuilder parent(Class<?>... sources) {
		return new SpringApplicationBuilder(sources).web(WebApplicationType.NONE)
			.properties("dlock.backend=memory", "spring.main.banner-mode=off", "spring.jmx.enabled=false");
	}

	@Test
	void childLocksWithTheRegistryOfItsParent() {
		try (ConfigurableApplicationContext child = parent(WithDlock.class).child(WithDlock.class)
			.web(WebApplicationType.NONE)
			.run()) {
			ApplicationContext parent = parentOf(child);
			assertThat(child.getBean(Service.class)).isNotSameAs(parent.getBean(Service.class));
			assertThat(child.getBean(Service.class).run()).containsExactly("service");
			assertThat(parent.getBean(Service.class).run()).containsExactly("service");
			assertThat(child.getBeanFactory().getBeanNamesForType(LockRegistry.class)).isEmpty();
			assertThat(child.getBean(LockRegistry.class)).isSameAs(parent.getBean(LockRegistry.class));
		}
	}

	private static ApplicationContext parentOf(ApplicationContext child) {
		ApplicationContext parent = child.getParent();
		assertThat(parent).isNotNull();
		return parent;
	}

	@Test
	void webChildLocksItsControllers() {
		try (ConfigurableApplicationContext child = parent(WithDlock.class).child(Web.class)
			.web(WebApplicationType.SERVLET)
			.properties("server.port=0", "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID())
			.run()) {
			int port = ((ServletWebServerApplicationContext) child).getWebServer().getPort();
			assertThat(RestClient.create("http://localhost:" + port).get().uri("/locks").retrieve().body(String.class))
				.isEqualTo("web");
			assertThat(child.getBeanFactory().getBeanNamesForType(LockRegistry.class)).isEmpty();
		}
	}

	/**
	 * Its server is a child of its own, without auto-configuration.
	 */
	@Test
	void managementServerOfItsOwnStarts() {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Web.class)
			.properties("server.port=0", "management.server.port=0", "dlock.backend=memory",
					"management.endpoints.web.exposure.include=*",
					"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID())
			.run()) {
			String port = context.getEnvironment().getProperty("local.management.port");
			assertThat(RestClient.create("http://localhost:" + port)
				.get()
				.uri("/actuator/dlocks")
				.retrieve()
				.body(String.class)).contains("\"instance\"");
		}
	}

	/**
	 * The locks of a process are in one store.
	 */
	@Test
	void childWithADataSourceOfItsOwnLocksWithTheRegistryOfItsParent() {
		try (ConfigurableApplicationContext parent = parent(WithDlock.class).run();
				ConfigurableApplicationContext child = new SpringApplicationBuilder(WithDlock.class,
						WithDataSource.class)
					.parent(parent)
					.web(WebApplicationType.NONE)
					.run("--dlock.backend=jdbc", "--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID())) {
			assertThat(child.getBeanFactory().getBeanNamesForType(DataSource.class)).isNotEmpty();
			assertThat(child.getBean(Service.class).run()).containsExactly("service");
			assertThat(child.getBean(LockRegistry.class)).isSameAs(parent.getBean(LockRegistry.class));
		}
	}

	@Test
	void childHasARegistryIfItsParentHasNone() {
		try (ConfigurableApplicationContext child = parent(Plain.class).child(WithDlock.class)
			.web(WebApplicationType.NONE)
			.run()) {
			assertThat(child.getBean(Service.class).run()).containsExactly("service");
		}
	}

	@Test
	void childWithoutDlockFailsTheStart() {
		assertThatExceptionOfType(InvalidLockedMethodException.class)
			.isThrownBy(
					() -> parent(WithDlock.class).child(WithoutDlock.class).web(WebApplicationType.NONE).run().close())
			.withMessageContaining("another application context")
			.withMessageContaining("DlockAutoConfiguration");
	}

	@Test
	void parentWithoutDlockFailsTheStart() {
		assertThatExceptionOfType(InvalidLockedMethodException.class)
			.isThrownBy(
					() -> parent(WithoutDlock.class).child(WithDlock.class).web(WebApplicationType.NONE).run().close())
			.withMessageContaining("another application context");
	}

	/**
	 * As the contexts that Spring Cloud makes for each client.
	 */
	@Test
	void contextThatIsMadeLaterIsCheckedAsWell() {
		try (ConfigurableApplicationContext parent = parent(WithDlock.class).run();
				AnnotationConfigApplicationContext client = new AnnotationConfigApplicationContext()) {
			client.setParent(parent);
			client.register(WithoutDlock.class);
			assertThatExceptionOfType(InvalidLockedMethodException.class).isThrownBy(client::refresh)
				.withMessageContaining("Service.run");
		}
		try (ConfigurableApplicationContext parent = parent(WithDlock.class).run();
				AnnotationConfigApplicationContext client = new AnnotationConfigApplicationContext()) {
			client.setParent(parent);
			client.register(WithDlock.class);
			client.refresh();
			assertThat(client.getBean(Service.class).run()).containsExactly("service");
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class Listener {

		private static final List<String> EVENTS = new CopyOnWriteArrayList<>();

		@Bean
		LockListener listener() {
			return (event) -> EVENTS.add(event.getClass().getSimpleName());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnListener {

		private static final List<String> EVENTS = new CopyOnWriteArrayList<>();

		@Bean
		LockListener ownListener() {
			return (event) -> EVENTS.add(event.getClass().getSimpleName());
		}

	}

	@Test
	void listenersOfParentAndChildReceiveEventsOnce() {
		Listener.EVENTS.clear();
		OwnListener.EVENTS.clear();
		try (ConfigurableApplicationContext child = parent(WithDlock.class, Listener.class)
			.child(WithDlock.class, OwnListener.class)
			.web(WebApplicationType.NONE)
			.run()) {
			child.getBean(Service.class).run();
			assertThat(Listener.EVENTS).containsOnlyOnce("Acquired");
			assertThat(OwnListener.EVENTS).containsOnlyOnce("Acquired");
		}
	}

	@Test
	void listenersOfAClosedChildReceiveNothing() {
		OwnListener.EVENTS.clear();
		try (ConfigurableApplicationContext child = parent(WithDlock.class).child(WithDlock.class, OwnListener.class)
			.web(WebApplicationType.NONE)
			.run()) {
			Service parents = child.getParent().getBean(Service.class);
			parents.run();
			assertThat(OwnListener.EVENTS).containsOnlyOnce("Acquired");
			child.close();
			parents.run();
			assertThat(OwnListener.EVENTS).containsOnlyOnce("Acquired");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DlockAutoConfiguration.class, DlocksEndpointAutoConfiguration.class,
			DlocksConsoleAutoConfiguration.class })
	static class WithConsole {

	}

	@Test
	void consoleOfAClosedChildCountsNothing() {
		try (ConfigurableApplicationContext child = parent(WithDlock.class).child(WithConsole.class)
			.web(WebApplicationType.NONE)
			.run("--dlock.console.enabled=true", "--management.endpoints.web.exposure.include=dlocks")) {
			LockRegistry registry = child.getBean(LockRegistry.class);
			DlocksConsole console = child.getBean(DlocksConsole.class);
			LockHandle handle = registry.acquireAsync(LockRequest.of("key")).join();
			LockRequest request = LockRequest.builder("key").waitTime(Duration.ZERO).build();
			assertThat(registry.tryAcquire(request)).isEmpty();
			assertThat(busy(console)).isEqualTo(1);
			child.close();
			assertThat(registry.tryAcquire(request)).isEmpty();
			assertThat(busy(console)).isEqualTo(1);
			handle.release();
		}
	}

	private static long busy(DlocksConsole console) {
		ConsoleDescriptor state = (ConsoleDescriptor) console
			.console(SecurityContext.NONE, "console.json", null, null, null, null)
			.getBody();
		return state.events().busy();
	}

	@Configuration(proxyBeanMethods = false)
	static class EventListeners {

		private static final List<String> EVENTS = new CopyOnWriteArrayList<>();

		@EventListener
		void on(LockEvent event) {
			EVENTS.add(event.getClass().getSimpleName());
		}

	}

	@Test
	void eventIsPublishedOnce() {
		EventListeners.EVENTS.clear();
		try (ConfigurableApplicationContext child = parent(WithDlock.class, EventListeners.class)
			.properties("dlock.events.publish=true")
			.child(WithDlock.class)
			.web(WebApplicationType.NONE)
			.run()) {
			child.getBean(Service.class).run();
			assertThat(EventListeners.EVENTS).containsOnlyOnce("Acquired");
		}
	}

}
