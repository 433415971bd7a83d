package io.dlock.autoconfigure.actuate.console;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.test.util.ReflectionTestUtils;

import io.dlock.LockEvent;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.autoconfigure.actuate.DlocksEndpointProperties;
import io.dlock.console.LockConsole;
import io.dlock.console.StoreReport;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.AdditionalAnswers.delegatesTo;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.Mockito.mock;

/**
 * The state that the console shows of a store that is down or has many locks, and of
 * hidden keys.
 */
class ConsoleStateTests {

	private final MemoryLockStore store = new MemoryLockStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().shutdownTimeout(Duration.ZERO).build());

	private final ConsoleEvents events = new ConsoleEvents();

	@AfterEach
	void closeRegistry() {
		this.registry.close();
	}

	private DlocksConsole console(LeaseLockRegistry registry, Show showKeys) {
		return new DlocksConsole(registry, this.events,
				new DlocksEndpointProperties(Show.NEVER, Set.of(), 100, showKeys, Set.of()), new HiddenKeys());
	}

	private static ConsoleDescriptor state(DlocksConsole console, @Nullable String filter, @Nullable String page) {
		return (ConsoleDescriptor) console.console(SecurityContext.NONE, "console.json", filter, null, "key", page)
			.getBody();
	}

	private static StoreReport down() {
		return new StoreReport("a store", "no locks", Duration.ZERO, null, null, List.of());
	}

	@Test
	void storeThatIsDownIsShownAsDown() {
		LockConsole checks = mock(LockConsole.class, delegatesTo(this.registry.console()));
		willReturn(down()).given(checks).check();
		LeaseLockRegistry failing = mock(LeaseLockRegistry.class, delegatesTo(this.registry));
		willReturn(checks).given(failing).console();
		DlocksConsole console = console(failing, Show.ALWAYS);
		Awaitility.await()
			.untilAsserted(() -> assertThat(state(console, null, null).store().state()).isNotEqualTo("unknown"));
		assertThat(state(console, null, null).store().state()).isEqualTo("down");
		assertThat(state(console, null, null).store().failure()).isEqualTo("no locks");
	}

	@Test
	void checkThatIsOldIsRepeated() {
		ConsoleStore shared = new ConsoleStore(this.registry.console());
		long aMinuteAgo = System.nanoTime() - Duration.ofMinutes(1).toNanos();
		ReflectionTestUtils.setField(shared, "checked", new ConsoleStore.Checked(down(), aMinuteAgo));
		assertThat(shared.check().report().failure()).isEqualTo("no locks");
		Awaitility.await().untilAsserted(() -> assertThat(shared.check().report().failure()).isNull());
	}

	@Test
	void pageBeforeTheFirstIsTheFirst() {
		DlocksConsole console = console(this.registry, Show.ALWAYS);
		for (String page : List.of("0", "-1")) {
			assertThat(state(console, null, page).locks().page()).isEqualTo(1);
		}
	}

	/**
	 * The message of its exception names the key.
	 */
	@Test
	void r57FailureOfAnIncidentDoesNotShowAHiddenKey() {
		this.events.onEvent(new LockEvent.StoreFailed("customer:jane", null, null, Duration.ZERO,
				new LockStoreException("customer:jane", "acquire", "Try again", null), false));
		assertThat(state(console(this.registry, Show.ALWAYS), null, null).events().items()).singleElement()
			.satisfies((event) -> assertThat(event.text()).contains("customer:jane"));
		assertThat(state(console(this.registry, Show.NEVER), null, null).toString()).doesNotContain("jane");
	}

	@Test
	void r57GuessOfAHiddenKeyThatIsNotListedFindsNothing() {
		Set<String> unlisted = new HashSet<>();
		for (int i = 0; i <= ConsoleStore.MAX_LOCKS; i++) {
			unlisted.add("key" + i);
			this.store.acquire(new AcquireCommand("key" + i, "elsewhere", Duration.ofMinutes(5), "another", ""));
		}
		this.registry.console().list(ConsoleStore.MAX_LOCKS).locks().forEach((lock) -> unlisted.remove(lock.key()));
		assertThat(unlisted).hasSize(1);
		String guess = unlisted.iterator().next();
		assertThat(state(console(this.registry, Show.ALWAYS), guess, null).locks().total())
			.isEqualTo(ConsoleStore.MAX_LOCKS + 1);
		assertThat(state(console(this.registry, Show.NEVER), guess, null).locks().total())
			.isEqualTo(ConsoleStore.MAX_LOCKS);
	}

}
