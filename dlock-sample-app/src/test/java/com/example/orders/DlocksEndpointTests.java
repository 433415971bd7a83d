package com.example.orders;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.annotation.Import;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.console.ForcedRelease;
import io.dlock.engine.LeaseLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The actuator endpoint {@code dlocks} as the sample is configured.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "spring.datasource.url=jdbc:h2:mem:dlocks", "orders.report-cron=-" })
@Import(AbstractDlocksEndpointTests.AuditTrail.class)
class DlocksEndpointTests extends AbstractDlocksEndpointTests {

	@Autowired
	private LeaseLockRegistry registry;

	@Autowired
	private AuditTrail audit;

	@Test
	void r55LocksAreListedWithHolderReasonAndEnd() {
		try (LockHandle handle = take("stock:book")) {
			HttpResponse<String> response = call("GET", "");
			assertThat(response.statusCode()).isEqualTo(200);
			String token = Long.toString(handle.token());
			assertThat(list(response, "held")).singleElement()
				.satisfies((held) -> assertThat(held).containsEntry("key", "stock:book")
					.containsEntry("reason", "a test")
					.containsEntry("thread", Thread.currentThread().getName())
					.containsEntry("token", token)
					.containsEntry("waiting", 0)
					.containsKeys("since", "until"));
			assertThat(list(response, "waiting")).isEmpty();
			assertThat(list(response, "store", "locks")).singleElement()
				.satisfies((held) -> assertThat(held).containsEntry("key", "stock:book")
					.containsEntry("reason", "a test")
					.containsEntry("token", token)
					.containsKeys("holder", "since", "until"));
			assertThat(response.body()).contains("\"complete\":true");
		}
		assertThat(list(call("GET", ""), "held")).isEmpty();
	}

	@Test
	void r55LocksAreFoundByKeyPartNameAndReason() {
		try (LockHandle pen = take("stock:pen"); LockHandle order = take("order:1")) {
			assertThat(pen.isValid() && order.isValid()).isTrue();
			for (String query : new String[] { "?keyPart=k:p", "?name=stock", "?keyPart=PEN&reason=test&limit=1" }) {
				HttpResponse<String> response = call("GET", query);
				assertThat(response.statusCode()).as(query).isEqualTo(200);
				assertThat(list(response, "store", "locks")).as(query)
					.singleElement()
					.satisfies((lock) -> assertThat(lock).containsEntry("key", "stock:pen").containsKey("ageSeconds"));
			}
			assertThat(list(call("GET", "?reason=a%20TEST"), "store", "locks")).hasSize(2);
			assertThat(list(call("GET", "?keyPart=book"), "store", "locks")).isEmpty();
			assertThat(call("GET", "?limit=x").body()).contains("'limit'");
			assertThat(call("GET", "?limit=x").statusCode()).isEqualTo(400);
		}
	}

	@Test
	void r55LockThatIsKeptIsNotShownAsHeld() {
		LockHandle handle = this.registry.acquire(LockRequest.builder("kept").minHold(Duration.ofMinutes(9)).build());
		handle.release();
		HttpResponse<String> response = call("GET", "?key=kept");
		assertThat(list(response, "held")).isEmpty();
		Map<String, Object> lock = list(response, "store", "locks").get(0);
		assertThat(lock).containsEntry("state", "kept")
			.containsEntry("holder", null)
			.containsKeys("until", "releasedBy");
		assertThat(this.registry.console().forceRelease("kept", handle.token())).isEqualTo(ForcedRelease.RELEASED);
	}

	@ParameterizedTest
	@ValueSource(strings = { HOSTILE, "plain", "%", "100%", "~", " x ", "../../env" })
	void r53AnyKeyIsFound(String key) {
		try (LockHandle handle = take(key)) {
			HttpResponse<String> response = call("GET", "?key=" + encode(key));
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(list(response, "held")).hasSize(1);
			String shown = (String) list(response, "store", "locks").get(0).get("key");
			assertThat(call("GET", "?key=" + encode(shown)).statusCode()).as("as it is shown: %s", shown)
				.isEqualTo(200);
			assertThat(handle.isValid()).isTrue();
		}
		assertThat(call("GET", "?key=" + encode(key)).statusCode()).as("free").isEqualTo(404);
	}

	@Test
	void listIsBounded() {
		try (LockHandle one = take("one"); LockHandle two = take("two")) {
			assertThat(one.key()).isNotEqualTo(two.key());
			HttpResponse<String> response = call("GET", "?limit=1");
			assertThat(list(response, "store", "locks")).hasSize(1);
			assertThat(response.body()).contains("\"complete\":false");
			assertThat(list(response, "held")).hasSize(2);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "?limit=0", "?limit=10001", "?limit=x", "?key=", "?key=%20" })
	void badInputIsABadRequest(String query) {
		assertThat(call("GET", query).statusCode()).isEqualTo(400);
	}

	@Test
	void r55ForcedReleaseIsOffAndTheRequestIsWrittenDown(CapturedOutput output) {
		try (LockHandle handle = take("stock:pen")) {
			HttpResponse<String> response = call("DELETE", "?key=stock:pen&token=" + handle.token());
			assertThat(response.statusCode()).isEqualTo(403);
			assertThat(json(response)).containsEntry("outcome", "off");
			assertThat(response.body()).contains("dlock.endpoint.forced-release=when-authorized");
			assertThat(handle.isValid()).isTrue();
			assertThat(call("GET", "?key=stock:pen").statusCode()).isEqualTo(200);
			assertThat(this.audit.events("stock:pen")).singleElement().satisfies((event) -> {
				assertThat(event.getType()).isEqualTo("DLOCK_FORCED_RELEASE");
				assertThat(event.getPrincipal()).isEqualTo("unknown");
				assertThat(event.getData())
					.isEqualTo(Map.of("key", "stock:pen", "token", Long.toString(handle.token()), "outcome", "off"));
			});
			assertThat(output).contains("Forced release of lock 'stock:pen'");
		}
	}

}
