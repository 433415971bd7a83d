package io.dlock.autoconfigure.actuate.console;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.LossType;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.autoconfigure.actuate.DlocksEndpointProperties;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.MachineWatch;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The state that the console shows, and its files.
 */
class DlocksConsoleTests {

	private final MemoryLockStore store = new MemoryLockStore();

	private final LeaseLockRegistry registry = registry("here");

	private final LeaseLockRegistry elsewhere = registry("other");

	private final ConsoleEvents events = new ConsoleEvents();

	private LeaseLockRegistry registry(String instance) {
		return new LeaseLockRegistry(this.store,
				LockSettings.builder().instance(instance).shutdownTimeout(Duration.ZERO).build());
	}

	@BeforeEach
	void addListener() {
		this.registry.addListener(this.events);
	}

	@AfterEach
	void closeRegistries() {
		this.registry.close();
		this.elsewhere.close();
	}

	private static LockHandle hold(LeaseLockRegistry registry, LockRequest request) {
		return registry.acquireAsync(request).join();
	}

	private WebEndpointResponse<?> get(String file, Show showKeys, Show forcedRelease, @Nullable String role,
			@Nullable String... query) {
		DlocksEndpointProperties properties = new DlocksEndpointProperties(forcedRelease, Set.of("LOCKSMITH"), 100,
				showKeys, Set.of("READER"));
		return new DlocksConsole(this.registry, this.events, properties, new HiddenKeys()).console(new User(role), file,
				at(query, 0), at(query, 1), at(query, 2), at(query, 3));
	}

	private static @Nullable String at(@Nullable String[] query, int index) {
		return (index < query.length) ? query[index] : null;
	}

	private ConsoleDescriptor state(@Nullable String... query) {
		return (ConsoleDescriptor) get("console.json", Show.ALWAYS, Show.NEVER, null, query).getBody();
	}

	private List<String> keys(@Nullable String... query) {
		return state(query).locks().items().stream().map(ConsoleDescriptor.Lock::key).toList();
	}

	@Test
	void pageIsSmallAndLoadsNothingFromElsewhere() {
		int bytes = 0;
		for (String file : List.of("console", "console.css", "console.js")) {
			byte[] content = (byte[]) get(file, Show.NEVER, Show.NEVER, null).getBody();
			bytes += content.length;
			assertThat(new String(content, StandardCharsets.UTF_8).replace("http://www.w3.org/2000/svg", ""))
				.doesNotContain("://")
				.doesNotContain("innerHTML", "insertAdjacentHTML", "document.write", "eval(");
		}
		assertThat(bytes).isLessThanOrEqualTo(40_000);
		assertThat(get("console.map", Show.NEVER, Show.NEVER, null).getStatus()).isEqualTo(404);
	}

	@Test
	void holdersAndWaitersOfAKeyAreShownTogether() {
		LockHandle own = hold(this.registry, LockRequest.builder("orders:1").name("orders").reason("pay").build());
		LockHandle other = hold(this.elsewhere, LockRequest.builder("orders:2").reason("ship").build());
		CompletableFuture<LockHandle> waiting = this.registry
			.acquireAsync(LockRequest.builder("orders:2").waitTime(Duration.ofMinutes(2)).build());
		Awaitility.await().until(() -> this.registry.counts().waiting() == 1);
		ConsoleDescriptor state = state(null, null, "key");
		assertThat(state.version()).isEqualTo(1);
		assertThat(state.process().held()).isEqualTo(1);
		assertThat(state.process().waiting()).isEqualTo(1);
		assertThat(state.process().secondsToNextExpiry()).isBetween(5.0, 30.0);
		assertThat(state.locks().items()).hasSize(2);
		ConsoleDescriptor.Lock first = state.locks().items().get(0);
		assertThat(first.kind()).isEqualTo("exclusive");
		assertThat(first.waiterCount()).isZero();
		assertThat(first.holders()).singleElement().satisfies((holder) -> {
			assertThat(holder.here()).isTrue();
			assertThat(holder.holder()).startsWith("here [");
			assertThat(holder.name()).isEqualTo("orders");
			assertThat(holder.reason()).isEqualTo("pay");
			assertThat(holder.token()).isEqualTo(Long.toString(own.token()));
			assertThat(holder.leaseSeconds()).isBetween(5.0, 30.0);
			assertThat(holder.heldSeconds()).isBetween(0.0, 25.0);
		});
		ConsoleDescriptor.Lock second = state.locks().items().get(1);
		assertThat(second.waiters()).hasSize(1);
		assertThat(second.holders()).singleElement().satisfies((holder) -> {
			assertThat(holder.here()).isFalse();
			assertThat(holder.holder()).startsWith("other [");
			assertThat(holder.token()).isEqualTo(Long.toString(other.token()));
			assertThat(holder.leaseSeconds()).isBetween(5.0, 30.0);
		});
		waiting.cancel(true);
	}

	@Test
	void readersPermitsAndKeptLocksAreShown() {
		LockRequest read = LockRequest.builder("read").mode(LockMode.SHARED).build();
		hold(this.elsewhere, read);
		hold(this.registry, read);
		hold(this.registry, read);
		this.elsewhere.acquirePermitAsync(LockRequest.of("export"), 3).join();
		hold(this.elsewhere, LockRequest.builder("kept").minHold(Duration.ofMinutes(9)).build()).release();
		List<ConsoleDescriptor.Lock> locks = state(null, null, "key").locks().items();
		assertThat(locks).extracting(ConsoleDescriptor.Lock::key).containsExactly("kept", "limit:export", "read");
		assertThat(locks.get(0).holders()).extracting(ConsoleDescriptor.Holder::state).containsExactly("kept");
		assertThat(locks.get(1).kind()).isEqualTo("permit");
		assertThat(locks.get(2).kind()).isEqualTo("shared");
		assertThat(locks.get(2).holders()).extracting(ConsoleDescriptor.Holder::here)
			.containsExactlyInAnyOrder(false, true, true);
		assertThat(keys().get(2)).as("a lock that is kept is not the oldest one").isEqualTo("kept");
	}

	@Test
	void filterFindsLocksByWhatIsKnownOfThem() {
		LockHandle handle = hold(this.registry, LockRequest.builder("orders:47 ü").reason("Orders.pay").build());
		hold(this.elsewhere, LockRequest.builder("stock:1").reason("Stock.count").build());
		for (String filter : new String[] { "ORDERS", "47 ü", "47%20", "pay", " here [ ",
				Long.toString(handle.token()) }) {
			assertThat(keys(filter)).as(filter).containsExactly("orders:47%20%C3%BC");
		}
		assertThat(keys("other")).containsExactly("stock:1");
		assertThat(keys("none")).isEmpty();
		assertThat(keys(null, "here")).containsExactly("orders:47%20%C3%BC");
		assertThat(keys(null, "waiting")).isEmpty();
		assertThat(state("none").locks().total()).isEqualTo(2);
	}

	@Test
	void locksComeInPages() {
		for (int i = 0; i < 250; i++) {
			hold(this.registry, LockRequest.of("k%03d".formatted(i)));
		}
		ConsoleDescriptor.Locks last = state(null, null, "key", "3").locks();
		assertThat(last.pages()).isEqualTo(3);
		assertThat(last.matching()).isEqualTo(250);
		assertThat(last.items()).hasSize(50).first().satisfies((lock) -> assertThat(lock.key()).isEqualTo("k200"));
		assertThat(state(null, null, "key", "99").locks().page()).isEqualTo(3);
		assertThat(state(null, null, "key", "x").locks().page()).isEqualTo(1);
	}

	@Test
	void guessOfAHiddenKeyFindsNothing() {
		hold(this.registry, LockRequest.builder("customer:jane").reason("greet").build());
		this.events
			.onEvent(new LockEvent.Lost("customer:jane", null, null, 1, Duration.ZERO, "gone", LossType.EXPIRED));
		for (String filter : new String[] { "jane", "greet", "" }) {
			ConsoleDescriptor state = (ConsoleDescriptor) get("console.json", Show.WHEN_AUTHORIZED, Show.NEVER,
					"LOCKSMITH", filter)
				.getBody();
			assertThat(state.keys()).isEqualTo("hidden");
			assertThat(state.locks().matching()).isEqualTo(filter.equals("jane") ? 0 : 1);
			assertThat(state.events().items()).hasSize(filter.isEmpty() ? 1 : 0);
			assertThat(state.toString()).doesNotContain("jane");
		}
		ConsoleDescriptor state = (ConsoleDescriptor) get("console.json", Show.WHEN_AUTHORIZED, Show.NEVER, "READER",
				"jane")
			.getBody();
		assertThat(state.locks().matching()).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "NEVER, LOCKSMITH, off", "WHEN_AUTHORIZED, READER, unauthorized", "WHEN_AUTHORIZED, , unauthorized",
			"WHEN_AUTHORIZED, LOCKSMITH, allowed", "ALWAYS, , allowed" })
	void rightToTakeALockAwayIsThatOfTheEndpoint(Show forcedRelease, @Nullable String role, String right) {
		ConsoleDescriptor state = (ConsoleDescriptor) get("console.json", Show.ALWAYS, forcedRelease, role).getBody();
		assertThat(state.release()).isEqualTo(right);
	}

	@Test
	void stateOfTheStoreIsThereAfterTheFirstCheck() {
		ConsoleStore shared = new ConsoleStore(this.registry.console());
		assertThat(shared.check()).isNull();
		Awaitility.await().untilAsserted(() -> assertThat(shared.check()).isNotNull());
		assertThat(shared.check().report().failure()).isNull();
		MachineWatch
			.repeatIfLate(() -> assertThat(shared.list()).as("one list for all viewers").isSameAs(shared.list()));
	}

	@Test
	void incidentsAreKeptAndOrdinaryEventsAreNot() {
		hold(this.registry, LockRequest.of("a")).release();
		LockHandle handle = hold(this.registry, LockRequest.builder("b").reason("why").build());
		assertThat(this.registry.tryAcquire(LockRequest.builder("b").waitTime(Duration.ZERO).build())).isEmpty();
		this.registry.console().forceRelease("b", handle.token());
		Awaitility.await().untilAsserted(() -> assertThat(state().events().lost()).isEqualTo(1));
		ConsoleDescriptor.Events found = state().events();
		assertThat(found.busy()).isEqualTo(1);
		assertThat(found.items()).extracting(ConsoleDescriptor.Event::type).containsExactly("lost", "busy");
		assertThat(found.items().get(0).text()).contains("released by force");
		assertThat(found.items().get(0).token()).isEqualTo(Long.toString(handle.token()));
		assertThat(found.items().get(1).text()).contains("held by here [");
	}

	@Test
	void outageIsShown() {
		this.events.onEvent(new LockEvent.RenewalFailed("a", null, null, 7, Duration.ZERO, Duration.ofSeconds(5)));
		this.events.onEvent(new LockEvent.StoreFailed("b", null, null, Duration.ofMillis(3),
				new LockStoreException("b", "acquire", "Try again", null), false));
		ConsoleDescriptor.Events found = state().events();
		assertThat(found.renewalFailed()).isEqualTo(1);
		assertThat(found.storeFailed()).isEqualTo(1);
		assertThat(found.items()).extracting(ConsoleDescriptor.Event::type)
			.containsExactly("store-failed", "renewal-failed");
		assertThat(found.items().get(1).text()).contains("valid for another 5000 ms");
	}

	@Test
	void oldestIncidentsMakeRoom() {
		String text = "x".repeat(5000);
		for (int i = 0; i < 3000; i++) {
			this.events.onEvent(
					new LockEvent.Lost(i + text, null, (i < 1500) ? "" : text, i, Duration.ZERO, "", LossType.EXPIRED));
			if (i == 1499) {
				assertThat(this.events.since(Duration.ofHours(1))).hasSizeBetween(75, IncidentList.MAX_EVENTS);
			}
		}
		List<Incident> kept = this.events.since(Duration.ofHours(1));
		assertThat(kept.get(0).token()).isEqualTo(2999);
		assertThat(kept.size() * (2 * 512 + 2 * 255)).as("bytes of keys and reasons")
			.isLessThan(IncidentList.MAX_BYTES);
		for (int i = 0; i < 3000; i++) {
			this.events.onEvent(new LockEvent.Lost("k", null, null, i, Duration.ZERO, "", LossType.EXPIRED));
		}
		assertThat(this.events.since(Duration.ofHours(1))).hasSize(IncidentList.MAX_EVENTS);
	}

	private void lose(int token) {
		this.events.onEvent(new LockEvent.Lost("k", null, null, token, Duration.ZERO, "", LossType.EXPIRED));
	}

	@Test
	void lossIsRememberedBesideManyOtherIncidents() {
		lose(1);
		for (int i = 0; i < 1500; i++) {
			this.events.onEvent(new LockEvent.Busy("k", null, null, Duration.ZERO, null));
		}
		ConsoleDescriptor.Events state = state("lost").events();
		assertThat(state.lost()).isEqualTo(1);
		assertThat(state.busy()).isEqualTo(1500);
		assertThat(this.events.since(Duration.ofHours(1))).last()
			.satisfies((incident) -> assertThat(incident.type()).isEqualTo("lost"));
	}

	@Test
	void numbersAreThoseOfTheLastMinutes() {
		IncidentList list = new IncidentList();
		long minute = Duration.ofMinutes(1).toNanos();
		for (int i = -20; i <= 20; i++) {
			list.add(new Incident(i * minute, "busy", "k", null, null, null, "", null));
		}
		assertThat(list.count(20 * minute)).isEqualTo(16);
		assertThat(list.count(21 * minute - 1)).isEqualTo(16);
		assertThat(list.count(21 * minute)).isEqualTo(15);
		assertThat(list.count(35 * minute)).isEqualTo(1);
		assertThat(list.count(36 * minute)).isZero();
	}

	private ConsoleDescriptor.Lock merged(List<LockInfo> listed) {
		ConsoleLocks locks = new ConsoleLocks("here", UnaryOperator.identity());
		locks.add(this.registry.console().local(), Instant.now());
		locks.add(listed, Duration.ZERO);
		return locks.page(ConsoleQuery.of(null, null, null, null), true, null).items().get(0);
	}

	@Test
	void exclusiveLockHasNoSecondHolderFromAnOlderList() {
		for (LockMode mode : LockMode.values()) {
			LockHandle other = hold(this.elsewhere, LockRequest.builder("key").mode(mode).build());
			List<LockInfo> listed = this.registry.console().list(10).locks();
			assertThat(merged(listed).holders()).singleElement()
				.satisfies((holder) -> assertThat(holder.here()).isFalse());
			other.release();
			LockHandle own = hold(this.registry, LockRequest.of("key"));
			assertThat(merged(listed).holders()).singleElement()
				.satisfies((holder) -> assertThat(holder.here()).isTrue());
			own.release();
		}
	}

	@Test
	void lockIsOlderAndNearerToItsEndByTheAgeOfItsList() {
		hold(this.elsewhere, LockRequest.builder("key").lease(Duration.ofSeconds(30)).build());
		ConsoleLocks locks = new ConsoleLocks("here", UnaryOperator.identity());
		locks.add(this.registry.console().list(10).locks(), Duration.ofSeconds(20));
		assertThat(locks.page(ConsoleQuery.of(null, null, null, null), true, null).items()).singleElement()
			.satisfies((lock) -> assertThat(lock.holders()).singleElement().satisfies((holder) -> {
				assertThat(holder.heldSeconds()).isGreaterThanOrEqualTo(20);
				assertThat(holder.leaseSeconds()).isLessThanOrEqualTo(10);
			}));
	}

	/**
	 * As a container that is restarted with a name of its own configuration.
	 */
	@Test
	void lockOfAnotherProcessWithTheSameNameIsNotHere() {
		try (LeaseLockRegistry before = registry("here")) {
			hold(before, LockRequest.of("key"));
			assertThat(state().locks().items()).singleElement()
				.satisfies((lock) -> assertThat(lock.holders()).singleElement()
					.satisfies((holder) -> assertThat(holder.here()).isFalse()));
			assertThat(keys(null, "here")).isEmpty();
		}
	}

	private record User(@Nullable String role) implements SecurityContext {

		@Override
		public @Nullable Principal getPrincipal() {
			return (this.role != null) ? () -> "jane" : null;
		}

		@Override
		public boolean isUserInRole(String wanted) {
			return wanted.equals(this.role);
		}

	}

}
