package com.example.orders;

import java.net.http.HttpResponse;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.annotation.Import;

import io.dlock.LockHandle;
import io.dlock.LockLostException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The actuator endpoint {@code dlocks} with forced release and hidden keys.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "spring.datasource.url=jdbc:h2:mem:forced", "orders.report-cron=-",
				"dlock.endpoint.forced-release=always", "dlock.endpoint.show-keys=never" })
@Import(AbstractDlocksEndpointTests.AuditTrail.class)
class ForcedReleaseTests extends AbstractDlocksEndpointTests {

	@Autowired
	private AuditTrail audit;

	private List<Object> outcomes(String key) {
		return this.audit.events(key).stream().map((event) -> event.getData().get("outcome")).toList();
	}

	@Test
	void r55LockIsTakenAwayWithTheExpectedTokenOnly(CapturedOutput output) {
		LockHandle handle = take("stock:pen");
		HttpResponse<String> wrong = call("DELETE", "?key=stock:pen&token=" + (handle.token() - 1));
		assertThat(wrong.statusCode()).isEqualTo(409);
		assertThat(json(wrong)).containsEntry("outcome", "other-token");
		assertThat(handle.isValid()).isTrue();
		HttpResponse<String> done = call("DELETE", "?key=stock:pen&token=" + handle.token());
		assertThat(done.statusCode()).isEqualTo(200);
		assertThat(json(done)).containsEntry("outcome", "released");
		assertThat(done.body()).as("what it does not do").contains("only a fence");
		assertThat(handle.isValid()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		HttpResponse<String> again = call("DELETE", "?key=stock:pen&token=" + handle.token());
		assertThat(again.body()).as("whether the key is held is not told").isEqualTo(wrong.body());
		assertThat(again.statusCode()).isEqualTo(409);
		assertThat(outcomes("stock:pen")).containsExactly("other-token", "released", "other-token");
		assertThat(output).contains(handle.token() + ", held by ", "asked for by 'unknown': released");
	}

	@Test
	void r53AnyKeyIsReleased() {
		LockHandle handle = take(HOSTILE);
		assertThat(call("DELETE", "?key=" + encode(HOSTILE) + "&token=" + handle.token()).statusCode()).isEqualTo(200);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@ParameterizedTest
	@CsvSource({ "'', key", "?key=stock:book, token", "?token=1, key", "?key=stock:book&token=x, token",
			"?key=stock:book&token=1&token=2, token", "?key=stock:book&token=9223372036854775808, token",
			"?key=&token=1, key", "?key=%20&token=1, key" })
	void badInputIsABadRequestThatNamesTheParameterAndReleasesNothing(String query, String parameter) {
		try (LockHandle handle = take("stock:book")) {
			HttpResponse<String> response = call("DELETE", query);
			assertThat(response.statusCode()).isEqualTo(400);
			assertThat(json(response)).containsEntry("outcome", "invalid");
			assertThat(response.body()).contains("The parameter '" + parameter + "'");
			assertThat(handle.isValid()).isTrue();
		}
	}

	@Test
	void otherMethodsAndPathsAreNotThere() {
		assertThat(call("POST", "").statusCode()).isEqualTo(405);
		assertThat(call("GET", "/stock:book").statusCode()).isEqualTo(404);
		assertThat(call("DELETE", "/stock:book?token=1").statusCode()).isEqualTo(405);
	}

	@Test
	void r55KeysAreHashedForCallersThatMustNotSeeThem() {
		try (LockHandle handle = take("customer:jane.doe@example.org")) {
			HttpResponse<String> response = call("GET", "");
			assertThat(response.body()).doesNotContain("jane").contains(Long.toString(handle.token()));
			Object hash = list(response, "held").get(0).get("key");
			assertThat(hash).asString().matches("hidden:[0-9a-f]{32}");
			assertThat(list(response, "store", "locks").get(0)).containsEntry("key", hash);
			HttpResponse<String> guess = call("GET", "?key=customer:jane.doe%40example.org");
			assertThat(guess.statusCode()).as("a guess is not confirmed").isEqualTo(403);
			assertThat(guess.body()).isEqualTo(call("GET", "?key=customer:john.doe").body());
		}
	}

}
