package com.example.console;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.test.Browser;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The console on a management port with a base path, behind a proxy with a prefix, in an
 * endpoint that is read-only, and when it is turned off or its application goes away.
 */
class ConsoleElsewhereBrowserTests {

	private static final String ENDPOINT = "/manage/actuator/locks";

	private static final String CONSOLE_ON = "--dlock.console.enabled=true";

	private static Browser browser;

	@BeforeAll
	static void startBrowser() {
		browser = Browser.start();
		browser.hurry(5);
	}

	@AfterAll
	static void closeBrowser() {
		if (browser != null) {
			browser.close();
		}
	}

	@BeforeEach
	void forgetTheTestBefore() {
		browser.open("about:blank");
		browser.forget();
	}

	private static ConfigurableApplicationContext start(String... more) {
		return new SpringApplicationBuilder(ConsoleApplication.class).run(Stream.concat(Stream.of(more),
				Stream.of("--server.port=0", "--server.address=127.0.0.1", "--server.servlet.context-path=/shop",
						"--management.server.port=0", "--management.server.address=127.0.0.1",
						"--management.server.base-path=/manage", "--management.endpoints.web.exposure.include=dlocks",
						"--management.endpoints.web.path-mapping.dlocks=locks", "--dlock.backend=memory",
						"--dlock.endpoint.show-keys=always", "--dlock.endpoint.forced-release=always",
						"--dlock.shutdown-timeout=0s", "--spring.profiles.active=open"))
			.toArray(String[]::new));
	}

	private static String address(ConfigurableApplicationContext context) {
		return "http://127.0.0.1:" + context.getEnvironment().getProperty("local.management.port");
	}

	private static LockHandle hold(ConfigurableApplicationContext context) {
		return context.getBean(LeaseLockRegistry.class)
			.acquireAsync(LockRequest.builder("orders:1").reason("pay").build())
			.join();
	}

	@Test
	void consoleWorksBehindAProxyUntilItIsTurnedOff() throws IOException {
		AtomicReference<String> application = new AtomicReference<>("");
		HttpServer proxy = proxy(application);
		try {
			try (ConfigurableApplicationContext context = start(CONSOLE_ON)) {
				application.set(address(context));
				LockHandle handle = hold(context);
				browser.open("http://127.0.0.1:" + proxy.getAddress().getPort() + "/ops/x" + ENDPOINT + "/console");
				browser.awaitText("#rows", "orders:1");
				browser.click("#rows .key");
				browser.click("tr.detail button");
				browser.type(Long.toString(handle.token()));
				browser.click("#r-go");
				browser.awaitText("#r-answer", "The lock is released");
				browser.click("#r-cancel");
				browser.awaitText("#empty", "No lock is held");
				assertThat(browser.errors()).isEmpty();
			}
			browser.awaitText("#problem", "The application answers with an error (502).");
			browser.awaitText("#fresh", "old");
			try (ConfigurableApplicationContext context = start()) {
				application.set(address(context));
				browser.awaitText("#problem", "The console is no longer here: it was turned off");
			}
		}
		finally {
			proxy.stop(0);
		}
		browser.awaitText("#problem", "The application does not answer.");
	}

	@Test
	void endpointThatIsReadOnlyTakesNothingAway() {
		try (ConfigurableApplicationContext context = start(CONSOLE_ON,
				"--management.endpoint.dlocks.access=read-only")) {
			LockHandle handle = hold(context);
			browser.open(address(context) + ENDPOINT + "/console");
			browser.awaitText("#rows", "orders:1");
			browser.click("#rows .key");
			browser.awaitText("tr.detail", Long.toString(handle.token()));
			assertThat(browser.eval("document.querySelectorAll('tr.detail button').length")).isEqualTo("0");
			assertThat(browser.errors()).isEmpty();
			assertThat(browser.eval("fetch('%s?key=orders:1&token=%d', { method: 'DELETE' }).then((r) => r.status)"
				.formatted(ENDPOINT, handle.token()))).isEqualTo("405");
			assertThat(handle.isValid()).isTrue();
		}
	}

	/**
	 * Takes a prefix away, as a proxy does.
	 */
	private static HttpServer proxy(AtomicReference<String> application) throws IOException {
		HttpServer proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		proxy.setExecutor(Executors.newCachedThreadPool((task) -> {
			Thread thread = new Thread(task, "proxy");
			thread.setDaemon(true);
			return thread;
		}));
		HttpClient client = HttpClient.newHttpClient();
		proxy.createContext("/ops/x", (exchange) -> {
			try (exchange) {
				forward(exchange, client, application.get());
			}
		});
		proxy.start();
		return proxy;
	}

	private static void forward(HttpExchange exchange, HttpClient client, String application) throws IOException {
		String path = exchange.getRequestURI().toString().substring("/ops/x".length());
		try {
			HttpResponse<byte[]> answer = client.send(HttpRequest.newBuilder(URI.create(application + path))
				.method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.noBody())
				.build(), HttpResponse.BodyHandlers.ofByteArray());
			for (String name : new String[] { "Content-Type", "Content-Security-Policy" }) {
				answer.headers().firstValue(name).ifPresent((value) -> exchange.getResponseHeaders().set(name, value));
			}
			exchange.sendResponseHeaders(answer.statusCode(), answer.body().length);
			exchange.getResponseBody().write(answer.body());
		}
		catch (IOException | InterruptedException ex) {
			exchange.sendResponseHeaders(502, -1);
		}
	}

}
