package io.dlock.autoconfigure.actuate.console;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where the console is served, with which headers, and where it is not.
 */
class ConsoleServingTests {

	private final HttpClient client = HttpClient.newHttpClient();

	private HttpResponse<String> get(String url) {
		return call("GET", url);
	}

	private HttpResponse<String> call(String method, String url) {
		try {
			return this.client.send(
					HttpRequest.newBuilder(URI.create(url)).method(method, HttpRequest.BodyPublishers.noBody()).build(),
					HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static ConfigurableApplicationContext start(WebApplicationType type, String... properties) {
		List<String> arguments = new ArrayList<>(List.of("dlock.backend=memory", "server.port=0",
				"server.address=127.0.0.1", "spring.main.banner-mode=off"));
		arguments.addAll(List.of(properties));
		return new SpringApplicationBuilder(Application.class).web(type)
			.run(arguments.stream().map((property) -> "--" + property).toArray(String[]::new));
	}

	private static String url(ConfigurableApplicationContext context, String portName, String path) {
		return "http://127.0.0.1:" + context.getEnvironment().getProperty("local." + portName + ".port") + path;
	}

	@Test
	void policyAdmitsOnlyTheOwnFiles() {
		assertThat(ConsoleHeaders.ALL).containsEntry("Content-Security-Policy",
				"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
	}

	private void assertConsole(String url, boolean framework) {
		assertThat(get(url.replaceAll("/[^/]+/console$", "")).body())
			.contains("\"dlocks-console\":{\"href\":\"%s\",\"templated\":false}".formatted(url));
		for (String file : new String[] { "", ".css", ".js", ".json" }) {
			HttpResponse<String> response = get(url + file);
			assertThat(response.statusCode()).as(file).isEqualTo(200);
			assertThat(response.headers().firstValue("Content-Type"))
				.hasValueSatisfying((type) -> assertThat(type).startsWith(switch (file) {
					case "" -> "text/html";
					case ".css" -> "text/css";
					case ".js" -> "text/javascript";
					default -> "application/json";
				}));
			ConsoleHeaders.ALL.forEach((name, value) -> assertThat(response.headers().allValues(name)).as(name + file)
				.containsExactly(value));
		}
		assertThat(get(url + ".json").body()).startsWith("{\"version\":1,");
		assertThat(get(url + ".map").statusCode()).isEqualTo(404);
		if (framework) {
			assertThat(get(url.replace("dlocks", "dlock%73")).headers().firstValue("Content-Security-Policy"))
				.isPresent();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "SERVLET", "REACTIVE" })
	void consoleIsBesideTheEndpointAndReadOnlyAsThatIs(WebApplicationType type) {
		try (ConfigurableApplicationContext context = start(type,
				"management.endpoints.web.exposure.include=dlocks,info", "dlock.console.enabled=true",
				"management.endpoints.web.path-mapping.dlocks=the-locks", "server.servlet.context-path=/shop",
				"spring.webflux.base-path=/shop", "dlock.endpoint.forced-release=always",
				"management.endpoint.dlocks.access=read-only")) {
			String endpoint = url(context, "server", "/shop/actuator/the-locks");
			assertConsole(endpoint + "/console", false);
			assertThat(get(endpoint + "/console.json").body()).contains("\"release\":\"off\"");
			assertThat(call("DELETE", endpoint + "?key=a&token=1").statusCode()).isEqualTo(405);
			HttpResponse<String> other = get(url(context, "server", "/shop/actuator/info"));
			assertThat(other.statusCode()).isEqualTo(200);
			assertThat(other.headers().firstValue("Content-Security-Policy")).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "SERVLET", "REACTIVE" })
	void consoleIsOnTheManagementPort(WebApplicationType type) {
		try (ConfigurableApplicationContext context = start(type, "management.endpoints.web.exposure.include=dlocks",
				"dlock.console.enabled=true", "management.server.port=0", "management.server.base-path=/manage",
				"management.server.address=127.0.0.1", "dlock.endpoint.forced-release=always")) {
			String console = url(context, "management", "/manage/actuator/dlocks/console");
			assertConsole(console, true);
			assertThat(get(console + ".json").body()).contains("\"release\":\"allowed\"");
			assertThat(get(url(context, "server", "/actuator/dlocks/console")).statusCode()).isEqualTo(404);
		}
	}

	@Test
	void nothingIsServedUnlessTheConsoleIsOn() {
		for (String[] properties : new String[][] { { "management.endpoints.web.exposure.include=dlocks" },
				{ "management.endpoints.web.exposure.include=health", "dlock.console.enabled=true" } }) {
			try (ConfigurableApplicationContext context = start(WebApplicationType.SERVLET, properties)) {
				assertThat(context.getBeanNamesForType(DlocksConsole.class)).isEmpty();
				for (String file : new String[] { "", ".css", ".js", ".json" }) {
					HttpResponse<String> response = get(url(context, "server", "/actuator/dlocks/console" + file));
					assertThat(response.statusCode()).isEqualTo(404);
					assertThat(response.body()).doesNotContain("<title>Locks", "version");
				}
				assertThat(get(url(context, "server", "/actuator")).body()).doesNotContain("dlocks-file",
						"dlocks-console");
			}
		}
	}

	@SpringBootApplication(exclude = DataSourceAutoConfiguration.class)
	static class Application {

	}

}
