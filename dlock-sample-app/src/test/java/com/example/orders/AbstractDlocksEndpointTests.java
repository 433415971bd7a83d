package com.example.orders;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.event.EventListener;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;

/**
 * Calls the actuator endpoint {@code dlocks} over HTTP.
 */
@ExtendWith(OutputCaptureExtension.class)
abstract class AbstractDlocksEndpointTests {

	static final String HOSTILE = "a/b//../;x=1?y&z=%2F\\ ü\n\u0000{b001}'\"#*";

	@LocalServerPort
	private int port;

	@Autowired
	private LockRegistry locks;

	final HttpResponse<String> call(String method, String query) {
		try {
			HttpRequest request = HttpRequest
				.newBuilder(URI.create("http://127.0.0.1:" + this.port + "/actuator/dlocks" + query))
				.method(method, HttpRequest.BodyPublishers.noBody())
				.build();
			return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static String encode(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8);
	}

	static Map<String, Object> json(HttpResponse<String> response) {
		return JsonParserFactory.getJsonParser().parseMap(response.body());
	}

	@SuppressWarnings("unchecked")
	static List<Map<String, Object>> list(HttpResponse<String> response, String... path) {
		Map<String, Object> map = json(response);
		for (int i = 0; i < path.length - 1; i++) {
			map = (Map<String, Object>) map.get(path[i]);
		}
		return (List<Map<String, Object>>) map.get(path[path.length - 1]);
	}

	final LockHandle take(String key) {
		return this.locks.acquire(LockRequest.builder(key).reason("a test").build());
	}

	/**
	 * Keeps audit events. (Boot's own repository asks for Spring Security.)
	 */
	@TestConfiguration(proxyBeanMethods = false)
	static class AuditTrail {

		private final List<AuditEvent> events = new CopyOnWriteArrayList<>();

		@EventListener
		void onAudit(AuditApplicationEvent event) {
			this.events.add(event.getAuditEvent());
		}

		List<AuditEvent> events(String key) {
			return this.events.stream().filter((event) -> key.equals(event.getData().get("key"))).toList();
		}

	}

}
