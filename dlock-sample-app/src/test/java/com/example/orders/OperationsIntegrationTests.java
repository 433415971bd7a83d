package com.example.orders;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import tools.jackson.databind.json.JsonMapper;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.test.DocsPage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The shell commands of {@code docs/incidents.md} and the queries of the pages and of the
 * dashboard, while a count of the stock holds a lock that a request waits for. The tests
 * are skipped where {@code curl} and {@code jq}, or Prometheus, are not installed:
 * {@code apt-get install curl jq prometheus}.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "spring.datasource.url=jdbc:h2:mem:operations", "orders.work-time=1ms", "orders.report-cron=-",
				"management.prometheus.metrics.export.enabled=true" })
@ExtendWith(OutputCaptureExtension.class)
class OperationsIntegrationTests {

	private static final DocsPage PAGE = DocsPage.of("incidents.md");

	private static final String THREAD = "http-nio-127.0.0.1-8080-exec-3";

	/** A part of each command, and its answer. */
	private static final Map<String, String> ANSWERS = Map.of("keyPart=book",
			"\\{\"key\":\"stock:book\",\"holder\":\"orders:\\d+ \\[" + THREAD
					+ "]\",\"reason\":\"count the stock\",\"ageSeconds\":[\\d.]+,\"token\":\"\\d+\"}\n",
			"jstack PID", "\"" + THREAD + "\" .*State: WAITING.*CountDownLatch.await.*", ".details.took", "\\d+ ms\n",
			"metrics/dlock.hold", "\\[\\{\"statistic\":\"COUNT\",\"value\":[1-9].*", "metrics/dlock.wait",
			"\\[\\{\"statistic\":\"COUNT\",\"value\":[1-9].*", "application.log",
			".* WARN .*Lock 'stock:pen' \\(token \\d+\\) was lost after \\d+ ms: it was released by force\\. Others may take it; check what was done under it\n",
			"dlock_lost_total", "dlock_lost_total\\{name=\"stock\",reason=\"forced\"} [1-9].0\n", ".details.failure",
			"\\{\"status\":\"UP\",\"failure\":null}\n", "uniq -c", " *1 stock:book\n");

	@LocalServerPort
	private int port;

	@Autowired
	private LeaseLockRegistry locks;

	@Autowired
	private OrderService orders;

	@Autowired
	private StockService stock;

	@TempDir
	private Path directory;

	private final CountDownLatch counted = new CountDownLatch(1);

	private @Nullable Thread count;

	private @Nullable CompletableFuture<LockHandle> waiting;

	private static LockRequest request(String product) {
		return LockRequest.builder("stock:" + product)
			.name("stock")
			.reason("count the stock")
			.waitTime(Duration.ZERO)
			.build();
	}

	@BeforeEach
	void haveANight() {
		this.stock.set("pen", 10);
		this.orders.place(new Order("pen", 1));
		LockHandle lost = this.locks.acquire(request("pen"));
		this.locks.console().forceRelease("stock:pen", lost.token());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
		this.count = new Thread(this::count, THREAD);
		this.count.start();
		Awaitility.await().until(() -> this.locks.find("stock:book"), Optional::isPresent);
		assertThat(this.locks.tryAcquire(request("book"))).isEmpty();
		this.waiting = this.locks
			.acquireAsync(LockRequest.builder("stock:book").waitTime(Duration.ofMinutes(2)).build());
		Awaitility.await().until(() -> this.locks.counts().waiting() == 1);
	}

	private void count() {
		LockHandle handle = this.locks.acquire(request("book"));
		try {
			this.counted.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			handle.release();
		}
	}

	@AfterEach
	void endTheNight() throws InterruptedException {
		if (this.waiting != null) {
			this.waiting.cancel(true);
		}
		this.counted.countDown();
		if (this.count != null) {
			this.count.join();
		}
	}

	@Test
	void commandsOfThePageAnswer(CapturedOutput output) throws Exception {
		Assumptions.assumeTrue(installed("curl").isPresent() && installed("jq").isPresent(),
				"curl or jq is not installed");
		Awaitility.await().until(() -> output.getOut().contains("was lost"));
		Files.writeString(this.directory.resolve("application.log"), output.getOut());
		List<String> commands = Stream.of("curl ", "jstack ", "grep ")
			.flatMap((beginning) -> PAGE.lines(beginning).stream())
			.toList();
		assertThat(commands).hasSameSizeAs(ANSWERS.keySet());
		for (String command : commands) {
			String known = ANSWERS.keySet().stream().filter(command::contains).findFirst().orElseThrow();
			assertThat(run(command)).as(command).matches("(?s)" + ANSWERS.get(known));
		}
	}

	private String run(String command) throws IOException {
		ProcessBuilder shell = new ProcessBuilder("sh", "-c",
				command.replace("localhost:8080", "127.0.0.1:" + this.port)
					.replace("PID", Long.toString(ProcessHandle.current().pid())))
			.directory(this.directory.toFile())
			.redirectErrorStream(true);
		shell.environment()
			.merge("PATH", Path.of(System.getProperty("java.home"), "bin").toString(),
					(path, java) -> path + File.pathSeparator + java);
		try (var answer = shell.start().getInputStream()) {
			return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	private static Optional<Path> installed(String program) {
		return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
			.map((path) -> Path.of(path, program))
			.filter(Files::isExecutable)
			.findFirst();
	}

	@Test
	void prometheusAnswersTheQueries() throws Exception {
		Optional<Path> executable = Optional.ofNullable(System.getProperty("dlock.test.prometheus"))
			.map(Path::of)
			.or(() -> installed("prometheus"));
		Assumptions.assumeTrue(executable.isPresent(),
				"Prometheus is not installed: apt-get install prometheus, or -Ddlock.test.prometheus=/path");
		String address = "127.0.0.1:" + freePort();
		Files.writeString(this.directory.resolve("prometheus.yml"), """
				global:
				  scrape_interval: 1s
				  scrape_timeout: 1s
				scrape_configs:
				  - job_name: shop
				    metrics_path: /actuator/prometheus
				    static_configs:
				      - targets: ["127.0.0.1:%d"]
				""".formatted(this.port));
		Process prometheus = new ProcessBuilder(executable.orElseThrow().toString(), "--config.file=prometheus.yml",
				"--storage.tsdb.path=data", "--web.listen-address=" + address, "--log.level=error")
			.directory(this.directory.toFile())
			.redirectErrorStream(true)
			.redirectOutput(this.directory.resolve("prometheus.log").toFile())
			.start();
		try {
			assertThat(queries()).hasSizeGreaterThan(30).allSatisfy((query) -> assertAnswered(address, query));
		}
		finally {
			prometheus.destroyForcibly().waitFor();
		}
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	/**
	 * The queries without the limits that they are compared with, which hide an answer.
	 */
	private static List<String> queries() throws IOException {
		List<String> queries = new ArrayList<>(JsonMapper.shared()
			.readTree(Files.readString(Path.of("..", "docs", "grafana-dashboard.json")))
			.findValuesAsString("expr"));
		Stream.of("sum by ", "max by ", "topk(").forEach((beginning) -> queries.addAll(PAGE.lines(beginning)));
		DocsPage.of("observability.md")
			.lines("        expr: ")
			.forEach((line) -> queries.add(line.replace("expr: ", "").strip()));
		return queries.stream()
			.map((query) -> query.replaceAll("\\$(job|instance|name)\\b", ".*")
				.replace("$__rate_interval", "1m")
				.replace("$__range", "5m")
				.replaceAll(" > [\\d.]+$", ""))
			.toList();
	}

	private static void assertAnswered(String address, String query) {
		URI url = URI
			.create("http://" + address + "/api/v1/query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8));
		Awaitility.await()
			.ignoreExceptionsInstanceOf(IOException.class)
			.untilAsserted(() -> assertThat(HttpClient.newHttpClient()
				.send(HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.ofString())
				.body()).as(query).contains("\"status\":\"success\"", "\"metric\":{"));
	}

}
