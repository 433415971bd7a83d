package io.dlock.autoconfigure.actuate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Forced releases by the endpoint {@code dlocks}: the right to them, their parameters,
 * and their audit trail.
 */
@ExtendWith(OutputCaptureExtension.class)
class DlocksEndpointForcedReleaseTests extends AbstractDlocksEndpointTests {

	/**
	 * Without Spring Security a request has no user.
	 */
	@ParameterizedTest
	@CsvSource({ "NEVER, LOCKSMITH, 403, off", "WHEN_AUTHORIZED, LOCKSMITH, 200, released",
			"WHEN_AUTHORIZED, READER, 403, unauthorized", "WHEN_AUTHORIZED, , 403, unauthorized",
			"ALWAYS, , 200, released" })
	void r55ForcedReleaseAsksForItsRole(Show forcedRelease, @Nullable String role, int status, String outcome) {
		LockHandle handle = hold();
		WebEndpointResponse<ForcedReleaseDescriptor> response = endpoint(forcedRelease, Show.ALWAYS)
			.forceRelease(new User(role), KEY, Long.toString(handle.token()), null);
		assertThat(response.getStatus()).isEqualTo(status);
		assertThat(response.getBody().outcome()).isEqualTo(outcome);
		assertThat(handle.isValid()).isEqualTo(status != 200);
	}

	@ParameterizedTest
	@CsvSource({ "NEVER, LOCKSMITH, 403, off, 0", "WHEN_AUTHORIZED, LOCKSMITH, 200, released, 2",
			"WHEN_AUTHORIZED, READER, 403, unauthorized, 0" })
	void r55AllLocksOfAnInstanceAreReleased(Show forcedRelease, String role, int status, String outcome, int released) {
		LockHandle first = hold("first", null, null);
		LockHandle second = hold("second", null, null);
		DlocksEndpoint endpoint = endpoint(forcedRelease, Show.NEVER);
		String instance = this.registry.settings().instance();
		WebEndpointResponse<ForcedReleaseDescriptor> response = endpoint.forceRelease(new User(role), null, null,
				instance);
		assertThat(response.getStatus()).isEqualTo(status);
		assertThat(response.getBody().outcome()).isEqualTo(outcome);
		assertThat(response.getBody().released()).isEqualTo(released);
		assertThat(first.isValid()).isEqualTo(released == 0);
		assertThat(second.isValid()).isEqualTo(released == 0);
		if (released > 0) {
			assertThat(endpoint.forceRelease(new User(role), null, null, instance).getStatus()).isEqualTo(404);
		}
	}

	@Test
	void keyOrTokenBesideAnInstanceIsRefused() {
		WebEndpointResponse<ForcedReleaseDescriptor> response = endpoint(Show.ALWAYS, Show.ALWAYS)
			.forceRelease(new User("LOCKSMITH"), "key", null, "an instance");
		assertThat(response.getStatus()).isEqualTo(400);
		assertThat(response.getBody().message()).contains("Leave out 'key' and 'token'");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			value = { "||'key' is missing", "a||'token' is missing", "|1|'key' is missing", "\" \"|1|'key' is missing",
					"a|x|'token' is no such number: 'x'", "a|9223372036854775808|'token' is no such number" })
	void forcedReleaseNamesTheMissingParameter(@Nullable String key, @Nullable String token, String message) {
		WebEndpointResponse<ForcedReleaseDescriptor> response = endpoint(Show.ALWAYS, Show.ALWAYS)
			.forceRelease(new User("LOCKSMITH"), key, token, null);
		assertThat(response.getStatus()).isEqualTo(400);
		assertThat(response.getBody().outcome()).isEqualTo("invalid");
		assertThat(response.getBody().message()).contains(message);
	}

	@Test
	void r55EachHolderOfAKeyIsShownAndAuditedByItsToken() {
		List<Object> audited = new ArrayList<>();
		try (LeaseLockRegistry other = new LeaseLockRegistry(this.registry.store(),
				LockSettings.builder().instance("other").shutdownTimeout(Duration.ZERO).build())) {
			LockHandle older = other.acquirePermitAsync(LockRequest.of("export"), 3).join();
			LockHandle newer = this.registry.acquirePermitAsync(LockRequest.of("export"), 3).join();
			DlocksEndpoint endpoint = endpoint(Show.ALWAYS, Show.ALWAYS, audited::add);
			User user = new User("LOCKSMITH");
			LocksDescriptor found = (LocksDescriptor) endpoint.locks(user, "limit:export", null, null, null, null)
				.getBody();
			assertThat(found.store().locks()).extracting(LocksDescriptor.Stored::token)
				.containsExactlyInAnyOrder(Long.toString(older.token()), Long.toString(newer.token()));
			endpoint.forceRelease(user, "limit:export", Long.toString(older.token()), null);
			endpoint.forceRelease(user, "limit:export", "1", null);
			assertThat(audited).extracting((event) -> ((AuditApplicationEvent) event).getAuditEvent().getData())
				.satisfiesExactly(
						(data) -> assertThat(data).hasEntrySatisfying("holder",
								(holder) -> assertThat(holder).asString().startsWith("other [")),
						(data) -> assertThat(data).doesNotContainKey("holder"));
			assertThat(audited).extracting((event) -> ((AuditApplicationEvent) event).getAuditEvent().getPrincipal())
				.containsOnly("jane");
			newer.release();
		}
	}

	private static List<AuditEvent> audited(List<Object> published) {
		return published.stream().map((event) -> ((AuditApplicationEvent) event).getAuditEvent()).toList();
	}

	@Test
	void r55EachLockOfAnInstanceAndTheRequestAreInTheAuditTrail() {
		LockHandle first = hold("first", null, null);
		LockHandle second = hold("second", null, null);
		List<Object> published = new ArrayList<>();
		DlocksEndpoint endpoint = endpoint(Show.WHEN_AUTHORIZED, Show.NEVER, published::add);
		String instance = this.registry.settings().instance();
		endpoint.forceRelease(new User("READER"), null, null, instance);
		assertThat(audited(published)).singleElement().satisfies((event) -> {
			assertThat(event.getPrincipal()).isEqualTo("jane");
			assertThat(event.getData()).containsEntry("instance", instance)
				.containsEntry("released", 0)
				.containsEntry("outcome", "unauthorized");
		});
		published.clear();
		endpoint.forceRelease(new User("LOCKSMITH"), null, null, instance);
		assertThat(audited(published)).extracting(AuditEvent::getPrincipal).containsOnly("jane");
		assertThat(audited(published)).extracting(AuditEvent::getData)
			.satisfiesExactlyInAnyOrder(
					(data) -> assertThat(data).containsEntry("key", "first")
						.containsEntry("token", Long.toString(first.token()))
						.containsEntry("outcome", "released"),
					(data) -> assertThat(data).containsEntry("key", "second")
						.containsEntry("token", Long.toString(second.token()))
						.containsEntry("outcome", "released"),
					(data) -> assertThat(data).containsEntry("instance", instance)
						.containsEntry("released", 2)
						.containsEntry("outcome", "released"));
	}

	@Test
	void r55AuditTrailAndLogHaveNoControlCharacters(CapturedOutput output) {
		List<Object> published = new ArrayList<>();
		endpoint(Show.ALWAYS, Show.ALWAYS, published::add).forceRelease(new User("LOCKSMITH", "jane\nroot"), null, null,
				"shop\u001b[2K\r\nother");
		assertThat(audited(published)).singleElement().satisfies((event) -> {
			assertThat(event.getPrincipal()).isEqualTo("jane root");
			assertThat(event.getData()).containsEntry("instance", "shop [2K  other");
		});
		assertThat(output).contains("Forced release of all locks of shop [2K  other, asked for by 'jane root'");
	}

	@Test
	void r55LockIsReleasedAlthoughTheAuditTrailFails(CapturedOutput output) {
		LockHandle handle = hold();
		WebEndpointResponse<ForcedReleaseDescriptor> response = endpoint(Show.ALWAYS, Show.ALWAYS, (event) -> {
			throw new IllegalStateException("no space left");
		}).forceRelease(new User("LOCKSMITH"), KEY, Long.toString(handle.token()), null);
		assertThat(response.getStatus()).isEqualTo(200);
		assertThat(handle.isValid()).isFalse();
		assertThat(output).contains("could not be written to the audit trail", "no space left");
	}

	@Test
	void r55TokenBesideAnInstanceReleasesNothing() {
		LockHandle handle = hold();
		WebEndpointResponse<ForcedReleaseDescriptor> response = endpoint(Show.ALWAYS, Show.ALWAYS).forceRelease(
				new User("LOCKSMITH"), null, Long.toString(handle.token()), this.registry.settings().instance());
		assertThat(response.getStatus()).isEqualTo(400);
		assertThat(handle.isValid()).isTrue();
	}

}
