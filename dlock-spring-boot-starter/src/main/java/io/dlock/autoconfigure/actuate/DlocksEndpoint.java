package io.dlock.autoconfigure.actuate;

import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

import io.dlock.LockException;
import io.dlock.LockInfo;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockConsole;
import io.dlock.console.LockList;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.StorageKey;

/**
 * The actuator endpoint {@code dlocks}: the locks that are held and waited for, and the
 * forced release of one of them or of all of an instance.
 * <p>
 * {@code GET /actuator/dlocks}, with {@code ?limit=} for more or fewer locks of the
 * store, and with {@code ?keyPart=}, {@code ?name=} and {@code ?reason=} for some of
 * them; {@code GET /actuator/dlocks?key=} for one key;
 * {@code DELETE /actuator/dlocks?key=&token=} to take a lock away from its holder, and
 * {@code DELETE /actuator/dlocks?instance=} to take all locks away from an instance,
 * which are off by default. Keys are parameters and no part of the path: servers and
 * firewalls refuse paths with some characters that keys may have. The endpoint is for the
 * web only, because a forced release records its caller.
 *
 * @since 0.1
 */
@WebEndpoint(id = "dlocks")
public final class DlocksEndpoint {

	private static final int NOT_FOUND = WebEndpointResponse.STATUS_NOT_FOUND;

	private static final int FORBIDDEN = 403;

	private static final ForcedReleaseDescriptor KEYS_HIDDEN = new ForcedReleaseDescriptor("hidden", 0,
			"Keys are not shown to this caller, so none can be looked up. See dlock.endpoint.show-keys");

	private final LockConsole console;

	private final String instance;

	private final DlocksEndpointProperties properties;

	private final ForcedReleaseHandler releases;

	private final HiddenKeys hidden;

	DlocksEndpoint(@Nullable LeaseLockRegistry registry, DlocksEndpointProperties properties, HiddenKeys hidden,
			ForcedReleaseAudit audit) {
		this.console = (registry != null) ? registry.console() : new NoConsole();
		this.instance = (registry != null) ? registry.settings().instance() : "unknown";
		this.properties = properties;
		this.hidden = hidden;
		this.releases = new ForcedReleaseHandler(this.console, properties, audit);
	}

	/**
	 * List the locks that are held and waited for, all of them or the result of a search.
	 * @param securityContext the caller
	 * @param key the only key to show, as it is stored, or {@code null} for all
	 * @param keyPart a part of the keys to show, or {@code null}
	 * @param name the name of the locks to show, or {@code null}
	 * @param reason a part of the reason of the locks to show, or {@code null}
	 * @param limit the largest number of locks of the store, or {@code null} for the
	 * default
	 * @return the locks; status 404 if there are none for the key, 403 for a key or a
	 * part of one if the caller may not see keys: the answer would confirm a guess
	 */
	@ReadOperation
	public WebEndpointResponse<?> locks(SecurityContext securityContext, @Nullable String key, @Nullable String keyPart,
			@Nullable String name, @Nullable String reason, @Nullable String limit) {
		boolean shown = showsKeys(securityContext);
		try {
			LockSearch search = new LockSearch(keyPart, name, reason);
			if (key != null && !search.isForAll()) {
				throw new IllegalArgumentException("The parameter 'key' is for one lock. Leave it out of a search");
			}
			if (!shown && (key != null || keyPart != null)) {
				return new WebEndpointResponse<>(KEYS_HIDDEN, FORBIDDEN);
			}
			return (key != null) ? lock(key) : new WebEndpointResponse<>(describe(search::matches,
					list(search, limit(limit), shown), shown ? UnaryOperator.identity() : this.hidden::hide));
		}
		catch (IllegalArgumentException ex) {
			return ForcedReleaseHandler.invalid(ex);
		}
	}

	private boolean showsKeys(SecurityContext securityContext) {
		return this.properties.showKeys().isShown(securityContext, this.properties.roles());
	}

	private int limit(@Nullable String limit) {
		int locks = (limit != null) ? number("limit", limit, Integer::parseInt) : this.properties.limit();
		if (locks < 1 || locks > LockSearch.LOCKS) {
			throw new IllegalArgumentException(
					"The parameter 'limit' must be from 1 to " + LockSearch.LOCKS + " but is " + locks);
		}
		return locks;
	}

	private static <T> T number(String parameter, String value, Function<String, T> parser) {
		try {
			return parser.apply(value);
		}
		catch (NumberFormatException ex) {
			throw new IllegalArgumentException("The parameter '" + parameter + "' is no such number: '" + value + "'",
					ex);
		}
	}

	/**
	 * A search covers a limited number of locks of the store.
	 */
	private LockList list(LockSearch search, int limit, boolean shown) {
		if (search.isForAll()) {
			return this.console.list(limit);
		}
		if (!shown && search.name() != null) {
			return new LockList(List.of(), false,
					"Names are looked for among the keys of the store, which are not shown to this caller");
		}
		LockList all = this.console.list(LockSearch.LOCKS);
		List<LockInfo> found = all.locks().stream().filter(search::matches).toList();
		return new LockList(found.stream().limit(limit).toList(), all.complete() && found.size() <= limit,
				all.problem());
	}

	private WebEndpointResponse<?> lock(String key) {
		String storageKey = StorageKey.ofShown(key);
		LocksDescriptor locks = describe((lockKey, name, reason) -> lockKey.equals(storageKey), find(key),
				UnaryOperator.identity());
		boolean found = locks.store().problem() != null || !locks.store().locks().isEmpty() || !locks.held().isEmpty()
				|| !locks.waiting().isEmpty();
		return new WebEndpointResponse<>(locks, found ? WebEndpointResponse.STATUS_OK : NOT_FOUND);
	}

	private LockList find(String key) {
		try {
			return new LockList(this.console.findAll(key), true, null);
		}
		catch (LockException ex) {
			return new LockList(List.of(), false, String.valueOf(ex.getMessage()));
		}
	}

	private LocksDescriptor describe(Wanted wanted, LockList stored, UnaryOperator<String> shown) {
		LocalLocks local = this.console.local();
		List<LocksDescriptor.Held> held = local.held()
			.stream()
			.filter((lock) -> wanted.matches(lock.key(), lock.name(), lock.reason()))
			.map((lock) -> LocksDescriptor.Held.of(shown.apply(lock.key()), lock))
			.toList();
		List<LocksDescriptor.Waiting> waiting = local.waiting()
			.stream()
			.filter((lock) -> wanted.matches(lock.key(), lock.name(), lock.reason()))
			.map((lock) -> LocksDescriptor.Waiting.of(shown.apply(lock.key()), lock))
			.toList();
		List<LocksDescriptor.Stored> locks = stored.locks()
			.stream()
			.map((lock) -> LocksDescriptor.Stored.of(shown.apply(lock.key()), lock))
			.toList();
		return new LocksDescriptor(this.instance, held, waiting,
				new LocksDescriptor.Store(locks, stored.complete(), stored.problem()));
	}

	/**
	 * Take a lock away from its holder, or all locks away from an instance.
	 * @param securityContext the caller
	 * @param key the key as it is stored
	 * @param token the token that its holder is expected to have
	 * @param instance the name of the instance, instead of a key and a token
	 * @return the outcome; status 400 if a parameter is missing
	 * @see LockConsole#forceRelease
	 * @see LockConsole#forceReleaseAll
	 */
	@DeleteOperation
	public WebEndpointResponse<ForcedReleaseDescriptor> forceRelease(SecurityContext securityContext,
			@Nullable String key, @Nullable String token, @Nullable String instance) {
		try {
			if (instance == null) {
				return this.releases.releaseOne(securityContext, required("key", key),
						number("token", required("token", token), Long::parseLong), showsKeys(securityContext));
			}
			if (key != null || token != null) {
				throw new IllegalArgumentException(
						"The parameter 'instance' is for all locks of an instance. Leave out 'key' and 'token'");
			}
			return this.releases.releaseAll(securityContext, required("instance", instance));
		}
		catch (IllegalArgumentException ex) {
			return ForcedReleaseHandler.invalid(ex);
		}
	}

	private static String required(String parameter, @Nullable String value) {
		if (value == null || value.isBlank()) {
			throw new IllegalArgumentException(
					"The parameter '" + parameter + "' is missing. Name the key and the token "
							+ "that GET shows: DELETE /actuator/dlocks?key=…&token=…, or an instance: ?instance=…");
		}
		return value;
	}

	/**
	 * The condition of the locks of this instance that are shown.
	 */
	@FunctionalInterface
	private interface Wanted {

		boolean matches(String key, @Nullable String name, @Nullable String reason);

	}

}
