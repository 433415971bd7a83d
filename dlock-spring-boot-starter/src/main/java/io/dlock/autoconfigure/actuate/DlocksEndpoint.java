package io.dlock.autoconfigure.actuate;

import java.security.Principal;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

import io.dlock.LocalLocks;
import io.dlock.LockConsole;
import io.dlock.LockException;
import io.dlock.LockInfo;
import io.dlock.LockList;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.StorageKey;

/**
 * The actuator endpoint {@code dlocks}: the locks that are held and waited for, and the
 * forced release of one.
 * <p>
 * {@code GET /actuator/dlocks}, with {@code ?limit=} for more or fewer locks of the
 * store; {@code GET /actuator/dlocks?key=} for one key;
 * {@code DELETE /actuator/dlocks?key=&token=} to take a lock away from its holder, which
 * is off by default. Keys are parameters and no part of the path: servers and firewalls
 * refuse paths with what a key may have in it. Over the web only, because a forced
 * release should know who asks for it.
 *
 * @since 0.1
 */
@WebEndpoint(id = "dlocks")
public final class DlocksEndpoint {

	private static final int NOT_FOUND = WebEndpointResponse.STATUS_NOT_FOUND;

	private static final int FORBIDDEN = 403;

	private static final ForcedReleaseDescriptor KEYS_HIDDEN = new ForcedReleaseDescriptor("hidden",
			"Keys are not shown to this caller, so none can be looked up. See dlock.endpoint.show-keys");

	private static final int CONFLICT = 409;

	private static final Answer OTHER_TOKEN = Answer.of(CONFLICT, "other-token",
			"No lock of that key has the expected token: look up its holder again. Nothing was done");

	private static final int NOT_IMPLEMENTED = 501;

	private final LockConsole console;

	private final String instance;

	private final DlocksEndpointProperties properties;

	private final ForcedReleaseAudit audit;

	private final HiddenKeys hidden = new HiddenKeys();

	DlocksEndpoint(LeaseLockRegistry registry, DlocksEndpointProperties properties, ForcedReleaseAudit audit) {
		this.console = registry.console();
		this.instance = registry.settings().instance();
		this.properties = properties;
		this.audit = audit;
	}

	/**
	 * The locks that are held and waited for.
	 * @param securityContext who asks
	 * @param key the only key to show, as it is stored, or {@code null} for all
	 * @param limit how many locks of the store to list at the most, or {@code null} for
	 * the default
	 * @return the locks; status 404 if there are none for the key, 403 for a key if the
	 * caller may not see keys: the answer would confirm a guess
	 */
	@ReadOperation
	public WebEndpointResponse<?> locks(SecurityContext securityContext, @Nullable String key,
			@Nullable Integer limit) {
		boolean shown = showsKeys(securityContext);
		try {
			if (key != null) {
				return shown ? lock(key) : new WebEndpointResponse<>(KEYS_HIDDEN, FORBIDDEN);
			}
			LockList stored = this.console.list((limit != null) ? limit : this.properties.limit());
			return new WebEndpointResponse<>(
					describe((local) -> true, stored, shown ? UnaryOperator.identity() : this.hidden::hide));
		}
		catch (IllegalArgumentException ex) {
			return new WebEndpointResponse<>(new ForcedReleaseDescriptor("invalid", String.valueOf(ex.getMessage())),
					WebEndpointResponse.STATUS_BAD_REQUEST);
		}
	}

	private boolean showsKeys(SecurityContext securityContext) {
		return this.properties.showKeys().isShown(securityContext, this.properties.roles());
	}

	private WebEndpointResponse<?> lock(String key) {
		String storageKey = StorageKey.ofShown(key);
		LocksDescriptor locks = describe(storageKey::equals, find(key), UnaryOperator.identity());
		boolean found = locks.store().problem() != null || !locks.store().locks().isEmpty() || !locks.held().isEmpty()
				|| !locks.waiting().isEmpty();
		return new WebEndpointResponse<>(locks, found ? WebEndpointResponse.STATUS_OK : NOT_FOUND);
	}

	private LockList find(String key) {
		try {
			return new LockList(this.console.find(key).stream().toList(), true, null);
		}
		catch (LockException ex) {
			return new LockList(List.of(), false, String.valueOf(ex.getMessage()));
		}
	}

	private LocksDescriptor describe(Predicate<String> wanted, LockList stored, UnaryOperator<String> shown) {
		LocalLocks local = this.console.local();
		List<LocksDescriptor.Held> held = local.held()
			.stream()
			.filter((lock) -> wanted.test(lock.key()))
			.map((lock) -> new LocksDescriptor.Held(shown.apply(lock.key()), lock.name(), lock.reason(), lock.thread(),
					lock.since(), lock.until(), Long.toString(lock.token()), lock.waiting()))
			.toList();
		List<LocksDescriptor.Waiting> waiting = local.waiting()
			.stream()
			.filter((lock) -> wanted.test(lock.key()))
			.map((lock) -> new LocksDescriptor.Waiting(shown.apply(lock.key()), lock.name(), lock.reason(),
					lock.thread(), lock.since(), lock.until()))
			.toList();
		List<LocksDescriptor.Stored> locks = stored.locks()
			.stream()
			.map((lock) -> new LocksDescriptor.Stored(shown.apply(lock.key()), lock.holder(), lock.reason(),
					lock.since(), lock.until(), Long.toString(lock.token())))
			.toList();
		return new LocksDescriptor(this.instance, held, waiting,
				new LocksDescriptor.Store(locks, stored.complete(), stored.problem()));
	}

	/**
	 * Take a lock away from its holder.
	 * @param securityContext who asks
	 * @param key the key as it is stored
	 * @param token the token that its holder is expected to have
	 * @return what became of it
	 * @see LockConsole#forceRelease
	 */
	@DeleteOperation
	public WebEndpointResponse<ForcedReleaseDescriptor> forceRelease(SecurityContext securityContext, String key,
			long token) {
		Answer refusal = refusal(securityContext);
		LockInfo before = (refusal == null) ? holder(key) : null;
		Answer answer = (refusal != null) ? refusal : forceRelease(key, token, showsKeys(securityContext));
		Principal principal = securityContext.getPrincipal();
		this.audit.add((principal != null) ? principal.getName() : null, StorageKey.ofShown(key), token,
				(before != null) ? before.holder() : null, answer.body.outcome());
		return new WebEndpointResponse<>(answer.body, answer.status);
	}

	private @Nullable LockInfo holder(String key) {
		try {
			return this.console.find(key).orElse(null);
		}
		catch (LockException | IllegalArgumentException ex) {
			return null;
		}
	}

	private @Nullable Answer refusal(SecurityContext securityContext) {
		Show allowed = this.properties.forcedRelease();
		if (allowed == Show.NEVER) {
			return Answer.of(FORBIDDEN, "off",
					"Forced release is off. Set dlock.endpoint.forced-release=when-authorized");
		}
		return allowed.isShown(securityContext, this.properties.forcedReleaseRoles()) ? null : Answer.of(FORBIDDEN,
				"unauthorized",
				"Forced release is for authenticated users that have one of dlock.endpoint.forced-release-roles");
	}

	/**
	 * A caller that may not see keys is not told whether a key is held.
	 */
	private Answer forceRelease(String key, long token, boolean shown) {
		try {
			return switch (this.console.forceRelease(key, token)) {
				case RELEASED -> Answer.of(WebEndpointResponse.STATUS_OK, "released",
						"The lock is released. Its holder gets to know at its next renewal, and may go on to write "
								+ "until then and, if it does not look at its lock, after that: only a fence stops it");
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
			return Answer.of(WebEndpointResponse.STATUS_BAD_REQUEST, "invalid", ex.getMessage());
		}
	}

	/**
	 * A body and its status.
	 *
	 * @param status the status
	 * @param body the body
	 */
	private record Answer(int status, ForcedReleaseDescriptor body) {

		static Answer of(int status, String outcome, @Nullable String message) {
			return new Answer(status, new ForcedReleaseDescriptor(outcome, String.valueOf(message)));
		}

	}

}
