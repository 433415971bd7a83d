package io.dlock.autoconfigure.actuate;

import java.security.Principal;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.dlock.LockException;
import io.dlock.LockInfo;
import io.dlock.console.LockConsole;
import io.dlock.console.LockList;
import io.dlock.engine.lease.Lease;
import io.dlock.store.StorageKey;

/**
 * Takes locks away from their holders if the caller has the right to, and records that.
 */
final class ForcedReleaseHandler {

	private static final int FORBIDDEN = 403;

	private static final int NOT_FOUND = WebEndpointResponse.STATUS_NOT_FOUND;

	private static final int CONFLICT = 409;

	private static final int NOT_IMPLEMENTED = 501;

	private static final String CONSEQUENCE = "learns of it at its next renewal, and may keep writing "
			+ "until then, and longer if it does not check its lock: only a fence stops it";

	private static final Answer OTHER_TOKEN = Answer.of(CONFLICT, "other-token",
			"No lock of that key has the expected token: look up its holder again. Nothing was done");

	private final LockConsole console;

	private final DlocksEndpointProperties properties;

	private final ForcedReleaseAudit audit;

	ForcedReleaseHandler(LockConsole console, DlocksEndpointProperties properties, ForcedReleaseAudit audit) {
		this.console = console;
		this.properties = properties;
		this.audit = audit;
	}

	static WebEndpointResponse<ForcedReleaseDescriptor> invalid(IllegalArgumentException ex) {
		return Answer.invalid(ex).response();
	}

	/**
	 * Take a lock away from its holder.
	 * @param token the expected token
	 * @param shown whether the caller may see keys
	 * @return the outcome
	 */
	WebEndpointResponse<ForcedReleaseDescriptor> releaseOne(SecurityContext caller, String key, long token,
			boolean shown) {
		Answer refusal = refusal(caller);
		LockInfo before = (refusal == null) ? holder(key, token) : null;
		Answer answer = (refusal != null) ? refusal : releaseOne(key, token, shown);
		this.audit.add(name(caller), StorageKey.ofShown(key), token, (before != null) ? before.holder() : null,
				answer.body.outcome());
		return answer.response();
	}

	/**
	 * The holder of an exclusive lock, whatever its token, or that of several which has
	 * the token.
	 */
	private @Nullable LockInfo holder(String key, long token) {
		try {
			return this.console.findAll(key)
				.stream()
				.filter((lock) -> !lock.shared() || Lease.storeToken(lock.token()) == Lease.storeToken(token))
				.findFirst()
				.orElse(null);
		}
		catch (LockException | IllegalArgumentException ex) {
			return null;
		}
	}

	/**
	 * A caller that may not see keys is not told whether a key is held.
	 */
	private Answer releaseOne(String key, long token, boolean shown) {
		try {
			return switch (this.console.forceRelease(key, token)) {
				case RELEASED -> Answer.released(1, "The lock is released. Its holder " + CONSEQUENCE);
				case NOT_HELD -> shown ? Answer.of(NOT_FOUND, "not-held", "The lock has no holder") : OTHER_TOKEN;
				case OTHER_TOKEN -> OTHER_TOKEN;
			};
		}
		catch (LockException ex) {
			return Answer.of(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE, "failed", ex.getMessage());
		}
		catch (UnsupportedOperationException ex) {
			return Answer.of(NOT_IMPLEMENTED, "unsupported", ex.getMessage());
		}
		catch (IllegalArgumentException ex) {
			return Answer.invalid(ex);
		}
	}

	/**
	 * Take all locks away from an instance. The audit trail has each of them, and the
	 * request.
	 * @param instance the name of the instance
	 * @return the outcome
	 */
	WebEndpointResponse<ForcedReleaseDescriptor> releaseAll(SecurityContext caller, String instance) {
		Answer refusal = refusal(caller);
		if (refusal != null) {
			this.audit.addInstance(name(caller), instance, 0, refusal.body.outcome());
			return refusal.response();
		}
		LockList released = this.console.forceReleaseAll(instance);
		Answer answer = answer(instance, released);
		released.locks()
			.forEach((lock) -> this.audit.add(name(caller), lock.key(), lock.token(), lock.holder(), "released"));
		this.audit.addInstance(name(caller), instance, released.locks().size(), answer.body.outcome());
		return answer.response();
	}

	private static Answer answer(String instance, LockList released) {
		int locks = released.locks().size();
		if (released.problem() != null) {
			return new Answer(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE, new ForcedReleaseDescriptor("failed",
					locks,
					"Locks of %s that are released: %d. Then: %s".formatted(instance, locks, released.problem())));
		}
		String rest = released.complete() ? "" : ". Not all locks of the store were looked at: ask again";
		if (locks == 0) {
			return Answer.of(NOT_FOUND, "not-held", "No lock is held by " + instance + rest);
		}
		return Answer.released(locks, "Locks of %s that are released: %d%s. If the instance still works, it %s"
			.formatted(instance, locks, rest, CONSEQUENCE));
	}

	private @Nullable Answer refusal(SecurityContext caller) {
		Show allowed = this.properties.forcedRelease();
		if (allowed == Show.NEVER) {
			return Answer.of(FORBIDDEN, "off",
					"Forced release is off. Set dlock.endpoint.forced-release=when-authorized and dlock.endpoint.forced-release-roles");
		}
		return allowed.isShown(caller, this.properties.forcedReleaseRoles()) ? null : Answer.of(FORBIDDEN,
				"unauthorized",
				"Forced release is for authenticated users that have one of dlock.endpoint.forced-release-roles");
	}

	private static @Nullable String name(SecurityContext caller) {
		Principal principal = caller.getPrincipal();
		return (principal != null) ? principal.getName() : null;
	}

	/**
	 * A body and its status.
	 *
	 * @param status the status
	 * @param body the body
	 */
	private record Answer(int status, ForcedReleaseDescriptor body) {

		static Answer of(int status, String outcome, @Nullable String message) {
			return new Answer(status, new ForcedReleaseDescriptor(outcome, 0, String.valueOf(message)));
		}

		static Answer released(int locks, String message) {
			return new Answer(WebEndpointResponse.STATUS_OK, new ForcedReleaseDescriptor("released", locks, message));
		}

		static Answer invalid(IllegalArgumentException ex) {
			return of(WebEndpointResponse.STATUS_BAD_REQUEST, "invalid", ex.getMessage());
		}

		WebEndpointResponse<ForcedReleaseDescriptor> response() {
			return new WebEndpointResponse<>(this.body, this.status);
		}

	}

}
