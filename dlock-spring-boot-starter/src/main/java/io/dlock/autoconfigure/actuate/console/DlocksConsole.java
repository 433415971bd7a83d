package io.dlock.autoconfigure.actuate.console;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.core.io.ClassPathResource;
import org.springframework.util.MimeType;

import io.dlock.LockInfo;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.autoconfigure.actuate.DlocksEndpoint;
import io.dlock.autoconfigure.actuate.DlocksEndpointProperties;
import io.dlock.autoconfigure.actuate.NoConsole;
import io.dlock.autoconfigure.actuate.console.ConsoleDescriptor.Event;
import io.dlock.console.LocalLocks;
import io.dlock.engine.LeaseLockRegistry;

/**
 * The console of the endpoint {@code dlocks}: {@code GET /actuator/dlocks/console} is a
 * page for people, and {@code console.json} beside it the state that the page shows. As a
 * part of the endpoint, both have its port, its exposure and its security, and show keys
 * to the same callers. The page takes locks away by the operation of the endpoint.
 *
 * @since 0.1
 */
@EndpointWebExtension(endpoint = DlocksEndpoint.class)
public final class DlocksConsole implements DisposableBean {

	private static final int VERSION = 1;

	private static final Duration EVENTS_AGE = Duration.ofMinutes(15);

	private static final int EVENTS = 100;

	private static final double NANOS_PER_SECOND = 1e9;

	private static final Map<String, String> TYPES = Map.of("console", "text/html", "console.css", "text/css",
			"console.js", "text/javascript");

	private final @Nullable LeaseLockRegistry registry;

	private final ConsoleStore store;

	private final String instance;

	private final ConsoleEvents events;

	private final DlocksEndpointProperties properties;

	private final HiddenKeys hidden;

	DlocksConsole(@Nullable LeaseLockRegistry registry, ConsoleEvents events, DlocksEndpointProperties properties,
			HiddenKeys hidden) {
		this.registry = registry;
		this.store = new ConsoleStore((registry != null) ? registry.console() : new NoConsole());
		this.instance = (registry != null) ? registry.settings().instance() : "unknown";
		this.events = events;
		this.properties = properties;
		this.hidden = hidden;
	}

	/**
	 * The registry may be that of a parent context, which goes on.
	 */
	@Override
	public void destroy() {
		if (this.registry != null) {
			this.registry.removeListener(this.events);
		}
	}

	/**
	 * Serve a file of the page, or the state.
	 * @param caller the caller
	 * @param file {@code console}, {@code console.css}, {@code console.js} or
	 * {@code console.json}
	 * @param filter a part of a key, holder, thread, name, reason or token, or
	 * {@code null}
	 * @param only {@code here} for locks that this process holds or waits for,
	 * {@code waiting} for those that it waits for, or {@code null} for all
	 * @param sort {@code age}, {@code key} or {@code waiting}, or {@code null} for the
	 * age
	 * @param page the number of the page, from 1, or {@code null} for the first
	 * @return the file or a {@link ConsoleDescriptor}; status 404 for other files
	 */
	@ReadOperation(produces = { "text/html", "text/css", "text/javascript", "application/json" })
	public WebEndpointResponse<?> console(SecurityContext caller, @Selector String file, @Nullable String filter,
			@Nullable String only, @Nullable String sort, @Nullable String page) {
		if (file.equals("console.json")) {
			return new WebEndpointResponse<>(describe(caller, ConsoleQuery.of(filter, only, sort, page)),
					WebEndpointResponse.STATUS_OK, new MimeType("application", "json"));
		}
		String type = TYPES.get(file);
		return (type != null)
				? new WebEndpointResponse<>(content(file), WebEndpointResponse.STATUS_OK,
						new MimeType(MimeType.valueOf(type), StandardCharsets.UTF_8))
				: new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
	}

	private static byte[] content(String file) {
		String name = file.equals("console") ? "console.html" : file;
		try {
			return new ClassPathResource(name, DlocksConsole.class).getContentAsByteArray();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private ConsoleDescriptor describe(SecurityContext caller, ConsoleQuery query) {
		boolean keysShown = this.properties.showKeys().isShown(caller, this.properties.roles());
		UnaryOperator<String> shown = keysShown ? UnaryOperator.identity() : this.hidden::hide;
		ConsoleStore.Listed listed = this.store.list();
		LocalLocks local = this.store.local();
		Instant now = Instant.now();
		ConsoleLocks locks = new ConsoleLocks(this.instance, shown);
		locks.add(local, now);
		locks.add(listed.locks().locks(), listed.age());
		if (!listed.locks().complete() && keysShown && !query.filter().isEmpty()) {
			addExactMatch(locks, query, listed);
		}
		return new ConsoleDescriptor(VERSION, keysShown ? "shown" : "hidden", right(caller), process(local, now),
				storeState(), locks.page(query, listed.locks().complete(), listed.locks().problem()),
				events(query, keysShown, shown));
	}

	/**
	 * Among more locks than are listed, a whole key is found all the same.
	 */
	private void addExactMatch(ConsoleLocks locks, ConsoleQuery query, ConsoleStore.Listed listed) {
		List<LockInfo> found = this.store.find(query.text());
		if (listed.locks()
			.locks()
			.stream()
			.noneMatch((lock) -> found.stream().anyMatch((other) -> other.key().equals(lock.key())))) {
			locks.add(found, Duration.ZERO);
		}
	}

	private String right(SecurityContext caller) {
		Show allowed = this.properties.forcedRelease();
		if (allowed == Show.NEVER) {
			return "off";
		}
		return allowed.isShown(caller, this.properties.forcedReleaseRoles()) ? "allowed" : "unauthorized";
	}

	private ConsoleDescriptor.Instance process(LocalLocks local, Instant now) {
		Double nextExpiry = local.held()
			.stream()
			.map((lock) -> Duration.between(now, lock.until()).toMillis() / 1000.0)
			.min(Double::compare)
			.orElse(null);
		return new ConsoleDescriptor.Instance(this.instance, local.held().size(), local.waiting().size(),
				this.events.renewed(), this.events.renewalsFailed(), nextExpiry);
	}

	private ConsoleDescriptor.Store storeState() {
		ConsoleStore.Checked checked = this.store.check();
		if (checked == null) {
			return new ConsoleDescriptor.Store("unknown", null, null, null, null, null, null, quarantine(), List.of());
		}
		var report = checked.report();
		return new ConsoleDescriptor.Store((report.failure() == null) ? "up" : "down", report.store(), report.server(),
				report.role(), report.failure(), report.took().toNanos() / 1e6, checked.age().toMillis() / 1000.0,
				quarantine(), report.warnings());
	}

	private @Nullable Double quarantine() {
		Duration rest = (this.registry != null) ? this.registry.counts().quarantine() : Duration.ZERO;
		return rest.isZero() ? null : rest.toMillis() / 1000.0;
	}

	private ConsoleDescriptor.Events events(ConsoleQuery query, boolean keysShown, UnaryOperator<String> shown) {
		long now = System.nanoTime();
		List<Event> items = this.events.since(EVENTS_AGE)
			.stream()
			.map((incident) -> event(incident, now, keysShown, shown))
			.filter(query::matches)
			.limit(EVENTS)
			.toList();
		return new ConsoleDescriptor.Events(this.events.count("lost"), this.events.count("busy"),
				this.events.count("renewal-failed"), this.events.count("store-failed"), items);
	}

	/**
	 * Messages of failures may contain the key.
	 */
	private static Event event(Incident incident, long now, boolean keysShown, UnaryOperator<String> shown) {
		String detail = keysShown ? incident.detail() : null;
		Long token = incident.token();
		return new Event(incident.type(), Math.max(0, (now - incident.nanos()) / NANOS_PER_SECOND),
				shown.apply(incident.key()), incident.name(), incident.reason(),
				(token != null) ? token.toString() : null, incident.text() + ((detail != null) ? ": " + detail : ""));
	}

}
