package com.example.orders;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The answers to a client while the Redis of the locks is down.
 */
@SpringBootTest(properties = { "spring.datasource.url=jdbc:h2:mem:outage", "orders.work-time=1ms",
		"orders.wait-time=2s", "orders.report-cron=-", "dlock.lease=8s", "dlock.command-timeout=2s" })
@ActiveProfiles("redis")
@AutoConfigureMockMvc
@ExtendWith(OutputCaptureExtension.class)
class OutageIntegrationTests {

	private static final RedisServer REDIS = RedisServer.start();

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private StockReport report;

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry properties) {
		properties.add("spring.data.redis.host", REDIS::host);
		properties.add("spring.data.redis.port", REDIS::port);
	}

	@AfterAll
	static void stop() {
		REDIS.close();
	}

	@Test
	void anOutageIsUnavailableAndNotBusyAndPasses(CapturedOutput output) {
		// the first connection may take longer
		Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(order()).hasStatus(201));
		REDIS.kill();
		assertThat(order()).hasStatus(503)
			.hasHeader("Retry-After", "5")
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyText()
			.doesNotContain("127.0.0.1", "stock:pen");
		assertThat(output).contains("stock was refused, because the locks could not be reached");
		this.report.write();
		assertThat(output).contains("stock-report ran without its lock");
		REDIS.restart();
		Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(order()).hasStatus(201));
	}

	private MvcTestResult order() {
		return this.mvc.post()
			.uri("/orders")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"product\": \"pen\", \"quantity\": 1}")
			.exchange();
	}

}
