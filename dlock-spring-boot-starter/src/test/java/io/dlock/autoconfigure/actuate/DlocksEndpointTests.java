package io.dlock.autoconfigure.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockConsole;
import io.dlock.console.LockList;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreInspection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The lists of the endpoint {@code dlocks}: what they show, how they are searched, and
 * the right to see keys.
 */
class DlocksEndpointTests extends AbstractDlocksEndpointTests {

	@Test
	void r57GuessIsNotConfirmedToACallerThatMayNotSeeKeys() {
		LockHandle handle = hold();
		DlocksEndpoint endpoint = endpoint(Show.WHEN_AUTHORIZED, Show.WHEN_AUTHORIZED);
		User user = new User("LOCKSMITH");
		assertThat(endpoint.locks(user, KEY, null, null, null, null)).usingRecursiveComparison()
			.isEqualTo(endpoint.locks(user, "customer:john", null, null, null, null));
		assertThat(endpoint.locks(user, KEY, null, null, null, null).getStatus()).isEqualTo(403);
		assertThat(endpoint.forceRelease(user, KEY, "1", null)).usingRecursiveComparison()
			.isEqualTo(endpoint.forceRelease(user, "customer:john", "1", null));
		assertThat(endpoint.locks(new User("READER"), KEY, null, null, null, null).getStatus()).isEqualTo(200);
		assertThat(handle.isValid()).isTrue();
	}

	@Test
	void r57HiddenKeyIsTheSameInOneProcessOnly() {
		try (LockHandle handle = this.registry.acquire(KEY)) {
			assertThat(handle.isValid()).isTrue();
			DlocksEndpoint endpoint = endpoint(Show.NEVER, Show.NEVER);
			List<String> shown = shown(endpoint);
			assertThat(shown).hasSize(2)
				.containsOnly(shown.get(0))
				.allMatch((key) -> key.matches("hidden:[0-9a-f]{32}"));
			assertThat(shown(endpoint)).isEqualTo(shown);
			assertThat(shown(endpoint(Show.NEVER, Show.NEVER))).doesNotContainAnyElementsOf(shown);
		}
	}

	private static LocksDescriptor search(DlocksEndpoint endpoint, @Nullable String keyPart, @Nullable String name,
			@Nullable String reason, @Nullable String limit) {
		WebEndpointResponse<?> response = endpoint.locks(new User("LOCKSMITH"), null, keyPart, name, reason, limit);
		assertThat(response.getStatus()).isEqualTo(200);
		return (LocksDescriptor) response.getBody();
	}

	private static List<String> keys(LocksDescriptor locks) {
		assertThat(locks.held().stream().map(LocksDescriptor.Held::key).sorted())
			.isEqualTo(locks.store().locks().stream().map(LocksDescriptor.Stored::key).toList());
		return locks.store().locks().stream().map(LocksDescriptor.Stored::key).toList();
	}

	@Test
	void r55LocksAreFoundByAPartOfTheKeyByNameAndByReason() {
		hold("orders:4711", "orders", "Orders.pay");
		hold("orders:47 ü", "orders", "Orders.ship");
		hold("ordersOfOthers", null, null);
		hold("stock:4711", "stock", "Stock.count");
		CompletableFuture<LockHandle> waiting = this.registry.acquireAsync(LockRequest.builder("stock:4711")
			.name("stock")
			.reason("Stock.order")
			.waitTime(Duration.ofMinutes(2))
			.build());
		Awaitility.await().until(() -> this.registry.counts().waiting() == 1);
		DlocksEndpoint endpoint = endpoint(Show.NEVER, Show.ALWAYS);
		assertThat(keys(search(endpoint, "4711", null, null, null))).containsExactly("orders:4711", "stock:4711");
		assertThat(search(endpoint, "4711", null, null, null).waiting()).hasSize(1);
		assertThat(search(endpoint, "orders", null, null, null).waiting()).isEmpty();
		assertThat(keys(search(endpoint, "47 ü", null, null, null))).containsExactly("orders:47%20%C3%BC");
		assertThat(keys(search(endpoint, "47%20", null, null, null))).containsExactly("orders:47%20%C3%BC");
		assertThat(keys(search(endpoint, "ORDERS:", null, null, null))).hasSize(2);
		assertThat(keys(search(endpoint, null, "orders", null, null))).hasSize(2);
		assertThat(keys(search(endpoint, null, "order", null, null))).isEmpty();
		assertThat(keys(search(endpoint, null, null, "orders.", null))).hasSize(2);
		assertThat(search(endpoint, null, null, "stock.order", null).waiting()).hasSize(1);
		assertThat(keys(search(endpoint, "4711", "orders", "pay", null))).containsExactly("orders:4711");
		assertThat(keys(search(endpoint, "4711", "orders", "ship", null))).isEmpty();
		waiting.cancel(true);
	}

	@Test
	void r55SearchLooksBeyondItsLimitAndSaysIfThereIsMore() {
		for (int i = 0; i < 9; i++) {
			hold("a" + i, null, null);
			hold("b" + i, null, null);
		}
		DlocksEndpoint endpoint = endpoint(Show.NEVER, Show.ALWAYS);
		LocksDescriptor.Store some = search(endpoint, "b", null, null, "8").store();
		assertThat(some.locks()).extracting(LocksDescriptor.Stored::key)
			.hasSize(8)
			.allMatch((key) -> key.startsWith("b"));
		assertThat(some.complete()).isFalse();
		LocksDescriptor.Store all = search(endpoint, "b", null, null, "9").store();
		assertThat(all.locks()).hasSize(9);
		assertThat(all.complete()).isTrue();
	}

	@Test
	void r57SearchTellsNothingOfHiddenKeys() {
		hold(KEY, "customers", "Customers.update");
		DlocksEndpoint endpoint = endpoint(Show.NEVER, Show.NEVER);
		User user = new User("READER");
		WebEndpointResponse<?> guess = endpoint.locks(user, null, "jane", null, null, null);
		assertThat(guess.getStatus()).isEqualTo(403);
		assertThat(guess).usingRecursiveComparison().isEqualTo(endpoint.locks(user, null, "john", null, null, null));
		for (String name : List.of(KEY, "customer")) {
			LocksDescriptor locks = search(endpoint, null, name, null, null);
			assertThat(locks.held()).as("not by its key").isEmpty();
			assertThat(locks.store().locks()).isEmpty();
			assertThat(locks.store().problem()).contains("not shown to this caller");
		}
		assertThat(search(endpoint, null, "customers", null, null).held()).singleElement()
			.satisfies((lock) -> assertThat(lock.key()).startsWith("hidden:"));
		assertThat(search(endpoint, null, null, "customers.", null).store().locks()).singleElement()
			.satisfies((lock) -> assertThat(lock.key()).startsWith("hidden:"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			value = { "|\" \"||||'keyPart' is blank", "||\"\"|||'name' is blank", "|||\" \"||'reason' is blank",
					"a|b||||'key' is for one lock", "||||x|'limit' is no such", "||||0|'limit' must be from 1 to 10000",
					"|b|||10001|'limit' must be from 1 to 10000", "\" \"|||||key" })
	void badParameterOfAListIsNamed(@Nullable String key, @Nullable String keyPart, @Nullable String name,
			@Nullable String reason, @Nullable String limit, String message) {
		WebEndpointResponse<?> response = endpoint(Show.NEVER, Show.ALWAYS).locks(new User("READER"), key, keyPart,
				name, reason, limit);
		assertThat(response.getStatus()).isEqualTo(400);
		assertThat(((ForcedReleaseDescriptor) response.getBody()).message()).contains(message);
	}

	@Test
	void r55LockThatIsKeptHasNoHolderAndAnEnd() {
		this.registry.acquire(LockRequest.builder(KEY).minHold(Duration.ofMinutes(9)).build()).release();
		LocksDescriptor locks = search(endpoint(Show.NEVER, Show.ALWAYS), null, null, null, null);
		assertThat(locks.held()).isEmpty();
		assertThat(locks.store().locks()).singleElement().satisfies((lock) -> {
			assertThat(lock.state()).isEqualTo("kept");
			assertThat(lock.holder()).isNull();
			assertThat(lock.releasedBy()).contains(Thread.currentThread().getName());
			assertThat(Duration.between(lock.since(), lock.until())).isGreaterThan(Duration.ofMinutes(8));
		});
	}

	@Test
	void r55AgeOfLocksIsShown() {
		hold();
		DlocksEndpoint endpoint = endpoint(Show.NEVER, Show.ALWAYS);
		Awaitility.await().untilAsserted(() -> {
			LocksDescriptor locks = search(endpoint, null, null, null, null);
			assertThat(locks.held().get(0).ageSeconds()).isBetween(0.05, 60.0);
			assertThat(locks.store().locks().get(0).ageSeconds()).isBetween(0.05, 60.0);
			assertThat(locks.store().locks().get(0).state()).isEqualTo("held");
		});
	}

	@Test
	void kindOfLocksIsShown() {
		List<LockHandle> handles = List.of(this.registry.acquire("lock"), this.registry.acquirePermit("export", 3),
				this.registry.acquire(LockRequest.builder("read").mode(LockMode.SHARED).build()));
		LocksDescriptor locks = search(endpoint(Show.NEVER, Show.ALWAYS), null, null, null, null);
		assertThat(locks.held()).extracting(LocksDescriptor.Held::kind)
			.containsExactlyInAnyOrder("exclusive", "permit", "shared");
		assertThat(locks.store().locks()).extracting(LocksDescriptor.Stored::kind)
			.containsExactlyInAnyOrder("exclusive", "permit", "shared");
		handles.forEach(LockHandle::release);
	}

	private static DlocksEndpoint endpoint(LeaseLockRegistry registry) {
		return new DlocksEndpoint(registry,
				new DlocksEndpointProperties(Show.ALWAYS, Set.of(), 100, Show.ALWAYS, Set.of()), new HiddenKeys(),
				new ForcedReleaseAudit((event) -> {
				}));
	}

	@Test
	void r55FailureOfTheStoreIsToldAsSuch() {
		LockStore store = mock();
		StoreInspection inspection = mock(StoreInspection.class, (call) -> {
			throw new StoreException(Effect.NONE, false, "no answer", null);
		});
		given(store.inspection()).willReturn(inspection);
		try (LeaseLockRegistry failing = new LeaseLockRegistry(store, LockSettings.defaults())) {
			DlocksEndpoint endpoint = endpoint(failing);
			User user = new User("LOCKSMITH");
			LocksDescriptor locks = (LocksDescriptor) endpoint.locks(user, KEY, null, null, null, null).getBody();
			assertThat(locks.store().problem()).contains("no answer");
			assertThat(locks.store().complete()).isFalse();
			assertThat(endpoint.forceRelease(user, KEY, "1", null)).satisfies((response) -> {
				assertThat(response.getStatus()).isEqualTo(503);
				assertThat(response.getBody().outcome()).isEqualTo("failed");
			});
			given(store.inspection()).willReturn(null);
			assertThat(endpoint.forceRelease(user, KEY, "1", null)).satisfies((response) -> {
				assertThat(response.getStatus()).isEqualTo(501);
				assertThat(response.getBody().outcome()).isEqualTo("unsupported");
			});
		}
	}

	private static List<String> shown(DlocksEndpoint endpoint) {
		LocksDescriptor locks = search(endpoint, null, null, null, null);
		return List.of(locks.held().get(0).key(), locks.store().locks().get(0).key());
	}

	@Test
	void limitOfTheListIsTheConfiguredOne() {
		hold("a", null, null);
		hold("b", null, null);
		DlocksEndpoint endpoint = new DlocksEndpoint(this.registry,
				new DlocksEndpointProperties(Show.NEVER, Set.of(), 1, Show.ALWAYS, Set.of()), new HiddenKeys(),
				new ForcedReleaseAudit((event) -> {
				}));
		assertThat(search(endpoint, null, null, null, null).store().locks()).hasSize(1);
		assertThat(search(endpoint, null, null, null, "2").store().locks()).hasSize(2);
	}

	/**
	 * The store has more locks than a search looks at.
	 */
	@Test
	void r55SearchOfAPartOfTheLocksSaysSo() {
		LeaseLockRegistry many = mock();
		LockConsole console = mock();
		given(many.console()).willReturn(console);
		given(many.settings()).willReturn(LockSettings.defaults());
		given(console.local()).willReturn(new LocalLocks(List.of(), List.of()));
		given(console.list(LockSearch.LOCKS)).willReturn(new LockList(List.of(), false, null));
		assertThat(search(endpoint(many), "key", null, null, null).store().complete()).isFalse();
	}

}
