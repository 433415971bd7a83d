package io.dlock.test;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
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
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.springframework.util.FileSystemUtils;

/**
 * A headless Chromium with one page, driven by its DevTools protocol. It reaches this
 * machine only. Where none is installed, the tests that start one are skipped:
 * {@code apt-get install chromium}, or {@code -Ddlock.test.browser=/path/to/chrome}.
 */
public final class Browser implements AutoCloseable {

	private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome", "chrome");

	private static final List<String> OPTIONS = List.of("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
			"--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
			"--hide-scrollbars", "--remote-debugging-port=0",
			"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank");

	private static final Pattern ANSWER = Pattern.compile("^\\{\"id\":(\\d+),");

	private static final Pattern METHOD = Pattern.compile("^\\{\"method\":\"([\\w.]+)\"");

	private static final Pattern PAGE = Pattern.compile("\"webSocketDebuggerUrl\": *\"(ws:[^\"]+/page/[^\"]+)\"");

	private static final Pattern BASE64 = Pattern.compile("\"(?:value|data)\":\"([A-Za-z0-9+/=]*)\"");

	private static final Pattern REQUESTED = Pattern.compile("\"request\":\\{[^}]*?\"url\":\"([^\"]+)\"");

	private final Path directory;

	private final Process process;

	private final AtomicInteger commands = new AtomicInteger();

	private final Map<Integer, CompletableFuture<String>> answers = new ConcurrentHashMap<>();

	private final List<String> errors = new CopyOnWriteArrayList<>();

	private final List<String> requests = new CopyOnWriteArrayList<>();

	private final WebSocket socket;

	private Browser(Path executable) throws IOException {
		this.directory = Files.createTempDirectory("browser");
		this.process = new ProcessBuilder(
				Stream.concat(Stream.of(executable.toString(), "--user-data-dir=" + this.directory), OPTIONS.stream())
					.toList())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		this.socket = HttpClient.newHttpClient()
			.newWebSocketBuilder()
			.buildAsync(URI.create(page()), new Messages())
			.join();
		List.of("Page", "Runtime", "Log", "Network").forEach((domain) -> send(domain + ".enable", ""));
	}

	/**
	 * Start a browser. Its caller is skipped if none is installed.
	 * @return the browser, on an empty page
	 */
	public static Browser start() {
		Path executable = executable();
		Assumptions.assumeTrue(executable != null,
				"No browser is installed: apt-get install chromium, or -Ddlock.test.browser=/path/to/chrome");
		try {
			return new Browser(executable);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static @Nullable Path executable() {
		String named = System.getProperty("dlock.test.browser");
		if (named != null) {
			return Path.of(named);
		}
		return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
			.flatMap((directory) -> NAMES.stream().map((name) -> Path.of(directory, name)))
			.filter(Files::isExecutable)
			.findFirst()
			.orElse(null);
	}

	private String page() {
		Path port = this.directory.resolve("DevToolsActivePort");
		return Awaitility.await().ignoreExceptions().until(() -> {
			String address = "http://127.0.0.1:" + Files.readAllLines(port).get(0) + "/json/list";
			Matcher page = PAGE.matcher(HttpClient.newHttpClient()
				.send(HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString())
				.body());
			return page.find() ? page.group(1) : null;
		}, (page) -> page != null);
	}

	/**
	 * Send a command of the protocol and wait for its answer.
	 * @param method the method
	 * @param params the parameters as JSON, without braces
	 * @return the answer as JSON
	 */
	public String send(String method, String params) {
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

	private static String quoted(String text) {
		StringBuilder json = new StringBuilder("\"");
		text.chars()
			.forEach((c) -> json.append(
					(c == '"' || c == '\\' || c < ' ' || c > '~') ? "\\u%04x".formatted(c) : Character.toString(c)));
		return json.append('"').toString();
	}

	/**
	 * Open a page, and wait until it is loaded.
	 * @param url its address
	 */
	public void open(String url) {
		eval("void (window.isOld = true)");
		send("Page.navigate", "\"url\":" + quoted(url));
		await("!window.isOld && document.readyState === 'complete'");
	}

	/**
	 * Set the size of the page and the scheme of colours that its user prefers.
	 * @param width the width in pixels
	 * @param height the height in pixels
	 * @param scheme {@code light} or {@code dark}
	 */
	public void look(int width, int height, String scheme) {
		send("Emulation.setDeviceMetricsOverride",
				"\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":false".formatted(width, height));
		send("Emulation.setEmulatedMedia",
				"\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":%s},{\"name\":\"prefers-reduced-motion\",\"value\":\"reduce\"}]"
					.formatted(quoted(scheme)));
	}

	/**
	 * Evaluate an expression in the page.
	 * @param expression JavaScript; a promise is waited for
	 * @return the value as text
	 */
	public String eval(String expression) {
		String script = "(async () => (" + expression
				+ "))().then((value) => btoa(unescape(encodeURIComponent(String(value)))))";
		String answer = send("Runtime.evaluate",
				"\"awaitPromise\":true,\"returnByValue\":true,\"expression\":" + quoted(script));
		Matcher value = BASE64.matcher(answer);
		if (answer.contains("\"exceptionDetails\"") || !value.find()) {
			throw new IllegalStateException(expression + ": " + answer);
		}
		return new String(Base64.getDecoder().decode(value.group(1)), StandardCharsets.UTF_8);
	}

	/**
	 * Wait until a condition is true in the page.
	 * @param condition JavaScript
	 */
	public void await(String condition) {
		try {
			Awaitility.await().ignoreExceptions().until(() -> eval(condition).equals("true"));
		}
		catch (ConditionTimeoutException ex) {
			throw new AssertionError(condition + " is not true of the page:\n" + eval("document.body.innerText"), ex);
		}
	}

	/**
	 * Wait until the page, or a part of it, shows a text.
	 * @param selector the part
	 * @param text the text
	 */
	public void awaitText(String selector, String text) {
		await("document.querySelector(%s).innerText.includes(%s)".formatted(quoted(selector), quoted(text)));
	}

	/**
	 * Click the first element that a selector finds.
	 * @param selector the selector
	 */
	public void click(String selector) {
		eval("document.querySelector(" + quoted(selector) + ").click()");
	}

	/**
	 * Write text where the focus is.
	 * @param text the text
	 */
	public void type(String text) {
		send("Input.insertText", "\"text\":" + quoted(text));
	}

	/**
	 * Press and release a key.
	 * @param key the name of the key, such as {@code Tab}
	 * @param code its number
	 * @param text the character that it writes, or {@code null}
	 */
	public void press(String key, int code, @Nullable String text) {
		String event = "\"key\":%s,\"windowsVirtualKeyCode\":%d".formatted(quoted(key), code);
		send("Input.dispatchKeyEvent",
				"\"type\":\"keyDown\"," + event + ((text != null) ? ",\"text\":" + quoted(text) : ""));
		send("Input.dispatchKeyEvent", "\"type\":\"keyUp\"," + event);
	}

	/**
	 * Take a picture of the visible part of the page.
	 * @param file the PNG file to write
	 */
	public void screenshot(Path file) {
		Matcher data = BASE64.matcher(send("Page.captureScreenshot", "\"format\":\"png\",\"optimizeForSpeed\":false"));
		try {
			if (!data.find()) {
				throw new IOException("No picture");
			}
			Files.createDirectories(file.toAbsolutePath().getParent());
			Files.write(file, Base64.getDecoder().decode(data.group(1)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Uncaught exceptions, messages of the console that are errors, and requests that
	 * were refused, since the last call of {@link #forget()}.
	 * @return the messages as JSON
	 */
	public List<String> errors() {
		return List.copyOf(this.errors);
	}

	/**
	 * The addresses that were requested since the last call of {@link #forget()}.
	 * @return the addresses
	 */
	public List<String> requests() {
		return List.copyOf(this.requests);
	}

	/**
	 * Forget errors, requests and cookies.
	 */
	public void forget() {
		send("Network.clearBrowserCookies", "");
		this.errors.clear();
		this.requests.clear();
	}

	@Override
	public void close() {
		this.socket.abort();
		this.process.descendants().forEach(ProcessHandle::destroyForcibly);
		this.process.destroyForcibly();
		try {
			this.process.waitFor(5, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		FileSystemUtils.deleteRecursively(this.directory.toFile());
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
				Browser.this.answers.remove(Integer.valueOf(answer.group(1))).complete(message);
			}
			else if (event.find()) {
				switch (event.group(1)) {
					case "Runtime.exceptionThrown" -> Browser.this.errors.add(message);
					case "Runtime.consoleAPICalled", "Log.entryAdded" -> {
						if (message.contains("\"level\":\"error\"") || message.contains("\"type\":\"error\"")) {
							Browser.this.errors.add(message);
						}
					}
					case "Network.requestWillBeSent" -> {
						Matcher request = REQUESTED.matcher(message);
						if (request.find()) {
							Browser.this.requests.add(request.group(1));
						}
					}
					default -> {
					}
				}
			}
		}

	}

}
