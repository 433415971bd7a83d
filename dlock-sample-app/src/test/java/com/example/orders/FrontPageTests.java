package com.example.orders;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import io.dlock.test.Browser;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The front page in a real browser, with two instances.
 */
class FrontPageTests {

	/** Pictures that were looked at go to the documentation. */
	private static final Path PICTURES = Boolean.getBoolean("dlock.docs.write") ? Path.of("../docs/images")
			: Path.of("target/pictures");

	private static Browser browser;

	private static ConfigurableApplicationContext first;

	private static ConfigurableApplicationContext second;

	private static String page;

	@BeforeAll
	static void start() throws IOException {
		browser = Browser.start();
		try (ServerSocket one = freePort(); ServerSocket two = freePort()) {
			int[] ports = { one.getLocalPort(), two.getLocalPort() };
			one.close();
			two.close();
			page = "http://127.0.0.1:" + ports[0] + "/";
			first = instance(ports[0], ports[1]);
			second = instance(ports[1], ports[0]);
		}
	}

	private static ServerSocket freePort() throws IOException {
		return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
	}

	private static ConfigurableApplicationContext instance(int port, int other) {
		return new SpringApplicationBuilder(OrdersApplication.class).run("--server.port=" + port,
				"--orders.instances=http://localhost:" + port + ",http://localhost:" + other,
				"--spring.datasource.url=jdbc:h2:mem:front-page", "--orders.report-cron=-", "--orders.work-time=20ms",
				"--orders.wait-time=30s");
	}

	@AfterAll
	static void stop() {
		if (browser != null) {
			browser.close();
		}
		for (ConfigurableApplicationContext instance : new ConfigurableApplicationContext[] { second, first }) {
			if (instance != null) {
				instance.close();
			}
		}
	}

	@Test
	void promiseIsSeenInTenSeconds() throws IOException {
		browser.look(1200, 900, "light");
		browser.open(page);
		browser.await("document.querySelectorAll('#instances li.i0, #instances li.i1').length === 2");
		browser.click("#without button");
		browser.awaitText("#without .verdict", "Oversold");
		browser.click("#with button");
		browser.awaitText("#with .verdict", "Correct: 20 of 20 books");
		assertThat(browser.eval("document.querySelectorAll('#with .sales li').length")).isEqualTo("20");
		assertThat(browser.eval("document.querySelectorAll('#with .twice').length")).isEqualTo("0");
		assertThat(browser.eval("document.querySelectorAll('#with .i0').length")).isNotEqualTo("20");
		for (String scheme : new String[] { "light", "dark" }) {
			browser.look(1200, 780, scheme);
			Path picture = PICTURES.resolve("sample-" + scheme + ".png");
			browser.screenshot(picture);
			assertThat(Files.size(picture)).isLessThan(150_000);
			browser.look(400, 1500, scheme);
			assertThat(browser.eval("document.documentElement.scrollWidth <= 400")).isEqualTo("true");
			browser.screenshot(Path.of("target/pictures/sample-400-" + scheme + ".png"));
		}
		browser.look(1200, 900, "light");
		browser.eval("void fetch('/stock/book/count?seconds=10', { method: 'POST' })");
		browser.awaitText("#holder", "count the stock by hand");
		browser.await("document.querySelectorAll('#holders li').length > 0");
		browser.awaitText("#holder", "Free");
		assertThat(browser.errors()).filteredOn((error) -> !error.contains("409")).isEmpty();
		assertThat(browser.requests()).allMatch((url) -> url.startsWith("http://127.0.0.1:") || !url.contains("://"));
		browser.open(browser.eval("document.querySelector('#console').href"));
		browser.awaitText("#instance", "orders:");
		browser.open(page + "actuator");
		browser.open(browser.eval("JSON.parse(document.querySelector('pre').innerText)._links['dlocks-console'].href"));
		browser.awaitText("#instance", "orders:");
	}

}
