package com.example.console;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.engine.LeaseLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The console as a person sees it, and as a person in a hurry uses it.
 */
class ConsoleBrowserTests extends AbstractConsoleBrowserTests {

	/** Pictures that were looked at go to the documentation. */
	private static final Path PICTURES = Boolean.getBoolean("dlock.docs.write") ? Path.of("../../docs/images")
			: Path.of("target/pictures");

	@Test
	void holderOfAStuckOrderIsFoundFromTheFrontPageOfTheManagementPort() {
		hold(this.here, "http-nio-8080-exec-1", request("orders:4712", "OrderService.ship"));
		hold(other("orders-7d9f-b8zzt"), "http-nio-8080-exec-7", request("orders:4711", "OrderService.pay"));
		request(this.here, "http-nio-8080-exec-4", request("orders:4711", "OrderService.cancel"));
		assertThat(this.here.tryAcquire(LockRequest.builder("orders:4712").waitTime(Duration.ZERO).build())).isEmpty();
		signInTo("/actuator", "reader");
		this.browser.open(
				this.browser.eval("JSON.parse(document.querySelector('pre').innerText)._links['dlocks-console'].href"));
		awaitConsole();
		this.browser.awaitText("#count", "2");
		this.browser.press("/", 191, "/");
		this.browser.type("4711");
		this.browser.awaitText("#count", "1 of 2");
		this.browser.awaitText("#no-events", "No incident matches the filter.");
		this.browser.awaitText("#rows", "orders-7d9f-b8zzt");
		this.browser.press("Tab", 9, null);
		this.browser.eval("document.querySelector('.key').focus()");
		this.browser.press("Enter", 13, "\r");
		this.browser.awaitText("tr.detail", "OrderService.pay");
		this.browser.awaitText("tr.detail", "http-nio-8080-exec-4 · OrderService.cancel · waits for");
		this.browser.eval("void (window.before = document.querySelector('#fresh').innerText)");
		int requests = this.browser.requests().size();
		Awaitility.await().until(() -> this.browser.requests().size() > requests + 1);
		assertThat(this.browser.eval("document.activeElement.className")).as("focus").isEqualTo("key");
		assertThat(this.browser.eval("location.search")).isEqualTo("?filter=4711");
		assertNothingStrange();
	}

	@Test
	void hostileTextsAreOnlyTexts() {
		String markup = "<img src=x onerror=window.hacked=1><script>window.hacked=2</script>";
		hold(this.here, markup, LockRequest.builder("\u202E" + markup).reason(markup).build());
		hold(this.here, "\u202Edaerht", LockRequest.builder("x".repeat(4096)).reason("\u202Enosaer \u0000").build());
		assertThat(this.here
			.tryAcquire(LockRequest.builder("x".repeat(4096)).reason(markup).waitTime(Duration.ZERO).build()))
			.isEmpty();
		signIn("reader", "");
		this.browser.awaitText("#rows", "%3Cimg%20src");
		this.browser.awaitText("#rows", "<img src=x onerror=");
		this.browser.awaitText("#events", "Busy");
		this.browser.eval("document.querySelectorAll('#rows .key').forEach((key) => key.click())");
		this.browser.await("document.querySelectorAll('tr.detail').length === 2");
		assertThat(this.browser.eval("typeof window.hacked")).isEqualTo("undefined");
		assertThat(this.browser.eval("document.querySelectorAll('img, td script, li script').length")).isEqualTo("0");
		assertThat(this.browser.eval("document.documentElement.scrollWidth <= 1200")).isEqualTo("true");
		this.browser.look(400, 800, "dark");
		assertThat(this.browser.eval("document.documentElement.scrollWidth <= 400")).isEqualTo("true");
		this.browser.screenshot(Path.of("target/pictures/hostile-400-dark.png"));
		assertNothingStrange();
	}

	@Test
	void lockIsTakenAwayWithItsToken() {
		LockHandle handle = hold(this.here, "exec-1", request("taken:1", "pay"));
		String token = Long.toString(handle.token());
		signIn("ops", "?filter=taken");
		openReleaseOf("taken:1");
		assertThat(this.browser.eval("document.querySelector('#r-token').innerText")).isEqualTo(token);
		this.browser.type("000000");
		assertThat(this.browser.eval("document.querySelector('#r-go').disabled")).isEqualTo("true");
		this.browser.eval("document.querySelector('#r-digits').value = ''");
		this.browser.type(token.substring(token.length() - 6));
		this.browser.screenshot(Path.of("target/pictures/release-1200-light.png"));
		this.browser.press("Enter", 13, "\r");
		this.browser.awaitText("#r-answer", "The lock is released");
		Awaitility.await().until(() -> !handle.isValid());
		this.browser.click("#r-cancel");
		this.browser.awaitText("#empty", "No lock matches");
		this.browser.awaitText("#events", "Lost");
		assertNothingStrange();
	}

	private void openReleaseOf(String key) {
		this.browser.awaitText("#rows", key);
		this.browser.click("#rows .key");
		this.browser.awaitText("tr.detail", "Force release");
		this.browser.click("tr.detail button");
		this.browser.await("document.querySelector('#release').open");
	}

	@Test
	void readersThatLoseTheirLockTogetherAreNamed() {
		LockRequest read = LockRequest.builder("read:1").mode(LockMode.SHARED).build();
		hold(this.here, "exec-1", read);
		hold(this.here, "exec-2", read);
		signIn("ops", "?filter=read");
		openReleaseOf("read:1");
		this.browser.awaitText("#r-holder", "[exec-1]");
		this.browser.awaitText("#r-holder", "[exec-2]");
		this.browser.awaitText("#r-readers", "all of them lose it");
		this.browser.click("#r-cancel");
		assertNothingStrange();
	}

	@Test
	void tokenThatIsOutOfDateTakesNothingAway() {
		LockHandle first = hold(this.here, "exec-1", request("late:1", "pay"));
		String token = Long.toString(first.token());
		signIn("ops", "?filter=late");
		openReleaseOf("late:1");
		this.browser.click("#pause");
		this.browser.type(token);
		first.release();
		LockHandle second = hold(other("next"), "exec-2", request("late:1", "pay"));
		this.browser.click("#r-go");
		this.browser.awaitText("#r-answer", "No lock of that key has the expected token");
		assertThat(second.isValid()).isTrue();
		this.browser.click("#r-cancel");
		this.browser.click("#pause");
		this.browser.awaitText("#rows", "next");
		this.browser.click("tr.detail button");
		second.release();
		this.browser.awaitText("#r-answer", "does not have the lock any more");
		assertThat(this.browser.eval("document.querySelector('#r-go').disabled")).isEqualTo("true");
	}

	@Test
	void readerCanTakeNothingAway() {
		LockHandle handle = hold(this.here, "exec-1", request("orders:1", "pay"));
		signIn("reader", "");
		this.browser.awaitText("#rows", "orders:1");
		this.browser.click("#rows .key");
		this.browser.awaitText("tr.detail", Long.toString(handle.token()));
		assertThat(this.browser.eval("document.querySelectorAll('tr.detail button').length")).isEqualTo("0");
		assertNothingStrange();
		assertThat(this.browser.eval("fetch('/actuator/dlocks?key=orders:1&token=" + handle.token()
				+ "', { method: 'DELETE', headers: { 'X-XSRF-TOKEN': /XSRF-TOKEN=([^;]+)/.exec(document.cookie)[1] } })"
				+ ".then((r) => r.text())"))
			.contains("unauthorized");
		assertThat(handle.isValid()).isTrue();
	}

	@Test
	void sessionThatIsOverIsSaidAndTheOldDataStays() {
		hold(this.here, "exec-1", request("orders:1", "pay"));
		signIn("reader", "");
		this.browser.awaitText("#rows", "orders:1");
		this.browser.send("Network.clearBrowserCookies", "");
		this.browser.awaitText("#problem", "Your session is over. Sign in again.");
		this.browser.awaitText("#fresh", "old");
		this.browser.awaitText("#rows", "orders:1");
		assertThat(this.browser.eval("document.querySelector('#problem a').href")).startsWith(url(CONSOLE));
	}

	@Test
	void tenThousandLocksComeInPagesAndAreFilteredWhileTyping() {
		List<CompletableFuture<LockHandle>> all = new ArrayList<>();
		LeaseLockRegistry many = other("many");
		for (int i = 0; i < 9_999; i++) {
			all.add(many.acquireAsync(LockRequest.builder("orders:%04d".formatted(i)).waitTime(WAIT).build()));
		}
		CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
		signIn("reader", "");
		this.browser.awaitText("#count", "9,999");
		this.browser.awaitText("#page", "Page 1 of 100");
		assertThat(this.browser.eval("document.querySelectorAll('tr.row').length")).isEqualTo("100");
		this.browser.click("#next");
		this.browser.awaitText("#page", "Page 2 of 100");
		this.browser.eval("document.querySelector('#filter').focus()");
		this.browser.type("orders:47");
		this.browser.awaitText("#count", "100 of 9,999");
		this.browser.type("11");
		this.browser.awaitText("#count", "1 of 9,999");
		this.browser.awaitText("#rows", "orders:4711");
		this.browser.screenshot(Path.of("target/pictures/many-1200-light.png"));
		assertNothingStrange();
	}

	@Test
	void clockOfTheBrowserMakesNoDifference() {
		hold(this.here, "exec-1", request("orders:1", "pay"));
		String id = this.browser.send("Page.addScriptToEvaluateOnNewDocument",
				"\"source\":\"Date = class extends Date { constructor() { super(0); } static now() { return 0; } };\"")
			.replaceAll(".*\"identifier\":\"(\\d+)\".*", "$1");
		try {
			signIn("reader", "");
			this.browser.awaitText("#rows", "orders:1");
			assertThat(this.browser.eval("Date.now()")).isEqualTo("0");
			int age = Integer.parseInt(this.browser.eval("parseInt(document.querySelector('tr.row .num').innerText)"));
			assertThat(age).isBetween(0, 60);
			int lease = Integer
				.parseInt(this.browser.eval("parseInt(document.querySelector('tr.row td:nth-child(5)').innerText)"));
			assertThat(lease).isBetween(1, 30);
		}
		finally {
			this.browser.send("Page.removeScriptToEvaluateOnNewDocument", "\"identifier\":\"" + id + "\"");
		}
	}

	@Test
	void hiddenPageAsksForNothing() {
		signIn("reader", "");
		this.browser
			.eval("void Object.defineProperty(document, 'hidden', { configurable: true, get: () => window.away })");
		this.browser.eval("void (window.away = true, document.dispatchEvent(new Event('visibilitychange')))");
		int requests = this.browser.requests().size();
		this.browser.eval("new Promise((resolve) => setTimeout(resolve, 1800))");
		assertThat(this.browser.requests()).hasSizeLessThanOrEqualTo(requests + 1);
		this.browser.eval("void (window.away = false, document.dispatchEvent(new Event('visibilitychange')))");
		Awaitility.await().until(() -> this.browser.requests().size() > requests + 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "light", "dark" })
	void pictures(String scheme) throws Exception {
		aDayInTheLife();
		signIn("ops", "");
		this.browser.awaitText("#rows", "orders:4711");
		this.browser.awaitText("#store", "Up");
		this.browser.look(1200, 900, scheme);
		this.browser.click("#rows .key[title='orders:4711']");
		this.browser.screenshot(PICTURES.resolve("console-" + scheme + ".png"));
		assertThat(Files.size(PICTURES.resolve("console-" + scheme + ".png"))).isLessThan(150_000);
		this.browser.look(400, 1800, scheme);
		assertThat(this.browser.eval("document.documentElement.scrollWidth <= 400")).isEqualTo("true");
		this.browser.screenshot(Path.of("target/pictures/open-400-" + scheme + ".png"));
		assertNothingStrange();
	}

	private void aDayInTheLife() {
		LeaseLockRegistry second = other("orders-7d9f-b8zzt");
		LeaseLockRegistry third = other("billing-5c4b-qq0wm");
		hold(this.here, "http-nio-8080-exec-3", request("orders:4711", "OrderService.pay"));
		Awaitility.await()
			.until(() -> this.here.console().local().held().get(0).age().compareTo(Duration.ofSeconds(2)) > 0);
		for (int i = 4; i < 7; i++) {
			request(this.here, "http-nio-8080-exec-" + i, request("orders:4711", "OrderService.cancel"));
		}
		hold(second, "http-nio-8080-exec-1", request("orders:4725", "OrderService.pay"));
		hold(third, "scheduling-1", request("nightly-report", "ReportJob.run"));
		hold(second, "http-nio-8080-exec-9", request("stock:book", "StockService.count"));
		LockRequest read = LockRequest.builder("prices:eu").mode(LockMode.SHARED).reason("PriceService.quote").build();
		hold(this.here, "http-nio-8080-exec-2", read);
		hold(second, "http-nio-8080-exec-5", read);
		hold(second, "http-nio-8080-exec-6", read);
		this.handles.add(this.here.acquirePermitAsync(request("export", "ExportController.csv"), 3));
		assertThat(this.here
			.tryAcquire(LockRequest.builder("stock:book").reason("CartService.sell").waitTime(Duration.ZERO).build()))
			.isEmpty();
		LockHandle lost = second.acquireAsync(request("orders:4690", "OrderService.refund")).join();
		lost.release();
		LockHandle forced = this.here.acquireAsync(request("orders:4690", "OrderService.refund")).join();
		this.here.console().forceRelease("orders:4690", forced.token());
	}

}
