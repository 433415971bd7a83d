package io.dlock.test;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A connection to the DevTools of a page.
 */
final class DevTools {

	private static final Pattern ANSWER = Pattern.compile("^\\{\"id\":(\\d+),");

	private static final Pattern METHOD = Pattern.compile("^\\{\"method\":\"([\\w.]+)\"");

	private static final Pattern REQUESTED = Pattern.compile("\"request\":\\{[^}]*?\"url\":\"([^\"]+)\"");

	private final AtomicInteger commands = new AtomicInteger();

	private final Map<Integer, CompletableFuture<String>> answers = new ConcurrentHashMap<>();

	private final List<String> errors = new CopyOnWriteArrayList<>();

	private final List<String> requests = new CopyOnWriteArrayList<>();

	private final WebSocket socket;

	DevTools(String address) {
		this.socket = HttpClient.newHttpClient()
			.newWebSocketBuilder()
			.buildAsync(URI.create(address), new Messages())
			.join();
	}

	List<String> errors() {
		return this.errors;
	}

	List<String> requests() {
		return this.requests;
	}

	String send(String method, String params) {
		int id = this.commands.incrementAndGet();
		CompletableFuture<String> answer = new CompletableFuture<>();
		this.answers.put(id, answer);
		this.socket.sendText("{\"id\":%d,\"method\":\"%s\",\"params\":{%s}}".formatted(id, method, params), true)
			.join();
		try {
			return answer.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException | ExecutionException | TimeoutException ex) {
			throw new IllegalStateException("No answer to " + method, ex);
		}
	}

	static String quoted(String text) {
		StringBuilder json = new StringBuilder("\"");
		text.chars()
			.forEach((c) -> json.append(
					(c == '"' || c == '\\' || c < ' ' || c > '~') ? "\\u%04x".formatted(c) : Character.toString(c)));
		return json.append('"').toString();
	}

	void close() {
		this.socket.abort();
	}

	/**
	 * Receives answers and events.
	 */
	private final class Messages implements WebSocket.Listener {

		private final StringBuilder text = new StringBuilder();

		@Override
		public @Nullable CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean last) {
			this.text.append(data);
			if (last) {
				String message = this.text.toString();
				this.text.setLength(0);
				receive(message);
			}
			webSocket.request(1);
			return null;
		}

		private void receive(String message) {
			Matcher answer = ANSWER.matcher(message);
			Matcher event = METHOD.matcher(message);
			if (answer.find()) {
				DevTools.this.answers.remove(Integer.valueOf(answer.group(1))).complete(message);
			}
			else if (event.find()) {
				switch (event.group(1)) {
					case "Runtime.exceptionThrown" -> DevTools.this.errors.add(message);
					case "Runtime.consoleAPICalled", "Log.entryAdded" -> {
						if (message.contains("\"level\":\"error\"") || message.contains("\"type\":\"error\"")) {
							DevTools.this.errors.add(message);
						}
					}
					case "Network.requestWillBeSent" -> {
						Matcher request = REQUESTED.matcher(message);
						if (request.find()) {
							DevTools.this.requests.add(request.group(1));
						}
					}
					default -> {
					}
				}
			}
		}

	}

}
