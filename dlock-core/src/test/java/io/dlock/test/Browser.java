package io.dlock.test;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

	/** Limits of time stay as they are. */
	private static final String HURRY = "(() => { const wait = window.setTimeout;"
			+ " window.setTimeout = (task, delay) => wait(task, delay < 5000 ? delay / %d : delay); })();";

	private static final Pattern PAGE = Pattern.compile("\"webSocketDebuggerUrl\": *\"(ws:[^\"]+/page/[^\"]+)\"");

	private static final Pattern BASE64 = Pattern.compile("\"(?:value|data)\":\"([A-Za-z0-9+/=]*)\"");

	private final Path directory;

	private final Process process;

	private final DevTools tools;

	private Browser(Path executable) throws IOException {
		this.directory = Files.createTempDirectory("browser");
		this.process = new ProcessBuilder(
				Stream.concat(Stream.of(executable.toString(), "--user-data-dir=" + this.directory), OPTIONS.stream())
					.toList())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		this.tools = new DevTools(page());
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
	 * Send a command of the DevTools protocol and wait for its answer.
	 * @param method the method
	 * @param params the parameters as JSON, without braces
	 * @return the answer as JSON
	 */
	public String send(String method, String params) {
		return this.tools.send(method, params);
	}

	/**
	 * Let the pages that are opened from now on do sooner what they do in the next five
	 * seconds.
	 * @param times how many times sooner
	 */
	public void hurry(int times) {
		send("Page.addScriptToEvaluateOnNewDocument", "\"source\":" + DevTools.quoted(HURRY.formatted(times)));
	}

	/**
	 * Open a page, and wait until it is loaded.
	 * @param url its address
	 */
	public void open(String url) {
		eval("void (window.isOld = true)");
		send("Page.navigate", "\"url\":" + DevTools.quoted(url));
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
					.formatted(DevTools.quoted(scheme)));
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
				"\"awaitPromise\":true,\"returnByValue\":true,\"expression\":" + DevTools.quoted(script));
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
		await("document.querySelector(%s).innerText.includes(%s)".formatted(DevTools.quoted(selector),
				DevTools.quoted(text)));
	}

	/**
	 * Click the first element that a selector finds.
	 * @param selector the selector
	 */
	public void click(String selector) {
		eval("document.querySelector(" + DevTools.quoted(selector) + ").click()");
	}

	/**
	 * Write text where the focus is.
	 * @param text the text
	 */
	public void type(String text) {
		send("Input.insertText", "\"text\":" + DevTools.quoted(text));
	}

	/**
	 * Press and release a key.
	 * @param key the name of the key, such as {@code Tab}
	 * @param code its number
	 * @param text the character that it writes, or {@code null}
	 */
	public void press(String key, int code, @Nullable String text) {
		String event = "\"key\":%s,\"windowsVirtualKeyCode\":%d".formatted(DevTools.quoted(key), code);
		send("Input.dispatchKeyEvent",
				"\"type\":\"keyDown\"," + event + ((text != null) ? ",\"text\":" + DevTools.quoted(text) : ""));
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
		return List.copyOf(this.tools.errors());
	}

	/**
	 * The addresses that were requested since the last call of {@link #forget()}.
	 * @return the addresses
	 */
	public List<String> requests() {
		return List.copyOf(this.tools.requests());
	}

	/**
	 * Forget errors, requests and cookies.
	 */
	public void forget() {
		send("Network.clearBrowserCookies", "");
		this.tools.errors().clear();
		this.tools.requests().clear();
	}

	@Override
	public void close() {
		this.tools.close();
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

}
