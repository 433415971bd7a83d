package com.example.console;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.test.Browser;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with a console, locks of several instances, and a browser.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "server.address=127.0.0.1", "dlock.backend=memory", "dlock.instance=orders-7d9f-x2lkq",
				"dlock.console.enabled=true", "management.endpoints.web.exposure.include=dlocks",
				"dlock.endpoint.show-keys=when-authorized", "dlock.endpoint.roles=READER",
				"dlock.endpoint.forced-release=when-authorized", "dlock.endpoint.forced-release-roles=OPS",
				"dlock.shutdown-timeout=0s" })
abstract class AbstractConsoleBrowserTests {

	static final String CONSOLE = "/actuator/dlocks/console";

	/** A lock is waited for longer than a page takes on a busy machine. */
	static final Duration WAIT = Duration.ofMinutes(2);

	private static @Nullable Browser started;

	@LocalServerPort
	private int port;

	@Autowired
	LeaseLockRegistry here;

	final List<CompletableFuture<LockHandle>> handles = new ArrayList<>();

	private final List<LeaseLockRegistry> others = new ArrayList<>();

	final Browser browser = browser();

	@BeforeAll
	static void startBrowser() {
		started = Browser.start();
		started.hurry(5);
	}

	private static Browser browser() {
		assertThat(started).isNotNull();
		return started;
	}

	@AfterAll
	static void closeBrowser() {
		if (started != null) {
			started.close();
		}
	}

	@BeforeEach
	void forgetTheTestBefore() {
		this.browser.open("about:blank");
		this.browser.forget();
		this.browser.look(1200, 800, "light");
	}

	@AfterEach
	void releaseAll() {
		this.handles.forEach((handle) -> {
			if (!handle.cancel(false) && !handle.isCompletedExceptionally() && handle.join().isValid()) {
				handle.join().release();
			}
		});
		this.others.forEach(LeaseLockRegistry::close);
	}

	final LeaseLockRegistry other(String instance) {
		LeaseLockRegistry registry = new LeaseLockRegistry(this.here.store(),
				LockSettings.builder().instance(instance).shutdownTimeout(Duration.ZERO).build());
		this.others.add(registry);
		return registry;
	}

	final LockHandle hold(LeaseLockRegistry registry, String thread, LockRequest request) {
		return request(registry, thread, request).join();
	}

	/**
	 * Request a lock as a thread of that name.
	 */
	final CompletableFuture<LockHandle> request(LeaseLockRegistry registry, String thread, LockRequest request) {
		CompletableFuture<LockHandle> handle = new CompletableFuture<>();
		this.handles.add(handle);
		new Thread(() -> registry.acquireAsync(request).whenComplete((held, failure) -> {
			if (failure != null) {
				handle.completeExceptionally(failure);
			}
			else if (!handle.complete(held)) {
				held.release();
			}
		}), thread).start();
		return handle;
	}

	static LockRequest request(String key, String reason) {
		return LockRequest.builder(key).name(key.replaceAll(":.*", "")).reason(reason).waitTime(WAIT).build();
	}

	final void signIn(String user, String query) {
		signInTo(CONSOLE + query, user);
		awaitConsole();
		assertThat(this.browser.eval("location.search")).as("the way back").contains(query);
	}

	final void signInTo(String path, String user) {
		this.browser.open(url(path));
		this.browser.await("location.pathname === '/login'");
		this.browser.eval("document.querySelector('[name=username]').value = '" + user + "'");
		this.browser.eval("document.querySelector('[name=password]').value = 'secret'");
		this.browser.click("button[type=submit]");
		this.browser.await("location.pathname === '" + path.replaceAll("\\?.*", "") + "'");
	}

	final void awaitConsole() {
		this.browser.await("location.pathname === '" + CONSOLE
				+ "' && document.querySelector('#fresh').innerText.includes('Live')");
	}

	final String url(String path) {
		return "http://127.0.0.1:" + this.port + path;
	}

	final void assertNothingStrange() {
		assertThat(this.browser.errors()).isEmpty();
		assertThat(this.browser.requests())
			.allMatch((url) -> url.startsWith(url("/")) || url.startsWith("data:") || url.equals("about:blank"));
	}

}
