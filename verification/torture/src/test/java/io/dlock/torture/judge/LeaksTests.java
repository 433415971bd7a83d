package io.dlock.torture.judge;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/**
 * Tests for {@link Leaks} (I11).
 */
class LeaksTests {

	private static final String BASELINE = """
			BASELINE {"ready":{"live":10,"threads":["dlock-timer-1"],"objects":{"io.dlock.store.Key":5}},\
			"idle":{"live":%d,"threads":["dlock-timer-1"],"objects":{"io.dlock.engine.lease.Hold":%d,"io.dlock.store.Key":%d}},\
			"closed":{"live":9,"threads":[%s],"objects":{"io.dlock.engine.lease.Hold":2}}}""";

	@Test
	void i11ClientThatIsAsBeforeHasNoLeak() {
		assertThat(leaks(26, 16, 21, "")).isEmpty();
	}

	@Test
	void i11ObjectsOfLockAreLeft() {
		assertThat(leaks(10, 17, 5, ""))
			.containsExactly("client-0 has 17 io.dlock.engine.lease.Hold when idle, 0 before");
	}

	@Test
	void i11ThereIsMoreOfSomethingElse() {
		assertThat(leaks(10, 0, 22, "")).containsExactly("client-0 has 22 io.dlock.store.Key when idle, 5 before");
	}

	@Test
	void i11ThereAreMoreThreads() {
		assertThat(leaks(27, 0, 5, "")).containsExactly("client-0 has 27 threads when idle, 10 before");
	}

	@Test
	void i11PoolOfPeerMayGrow() {
		assertThat(Leaks.of("client-0", List.of(BASELINE.formatted(27, 0, 5, "")), false)).allMatch(Run.Check::holds);
	}

	@Test
	void i11ThreadOutlivesItsLocks() {
		assertThat(leaks(10, 0, 5, "\"dlock-timer-1\""))
			.containsExactly("client-0 has thread dlock-timer-1 when closed");
	}

	@Test
	void i11ObjectsOfALockOutliveTheirRegistry() {
		String baseline = BASELINE.formatted(10, 0, 5, "").replace("Hold\":2}", "Hold\":17}");
		assertThat(leaks(baseline)).containsExactly("client-0 has 17 io.dlock.engine.lease.Hold when closed, 0 before");
	}

	@Test
	void i11FiguresOfClientsAreReported() {
		List<Leftover> leftovers = Leaks.leftovers("client-0", List.of("READY", BASELINE.formatted(12, 3, 5, "")));
		assertThat(leftovers).extracting(Leftover::what)
			.containsExactly("client-0 objects of the locks", "client-0 objects of one lock",
					"client-0 threads of the locks", "client-0 threads");
		assertThat(leftovers.get(0).phases()).containsExactly(entry("ready", 5L), entry("idle", 8L),
				entry("closed", 2L));
		assertThat(leftovers.get(3).phases()).containsExactly(entry("ready", 10L), entry("idle", 12L),
				entry("closed", 9L));
	}

	@Test
	void i11FiguresOfStoreAreReported() {
		assertThat(Leaks.ofStore(List.of("FIGURES before locks=0 connections=0", "OK I11 store",
				"FIGURES ready locks=0 connections=6", "FIGURES gone locks=0 connections=0")))
			.containsExactly(new Leftover("store locks", Map.of("before", 0L, "ready", 0L, "gone", 0L)),
					new Leftover("store connections", Map.of("before", 0L, "ready", 6L, "gone", 0L)));
	}

	@Test
	void threadThatDiedIsMissing() {
		String died = "Exception in thread \"keeper\" java.lang.IllegalStateException";
		assertThat(Leaks.missing("client-0", List.of("READY", died, BASELINE.formatted(10, 0, 5, ""))))
			.containsExactly("client-0: " + died);
		assertThat(Leaks.missing("client-0", List.of(died))).containsExactly("client-0: " + died,
				"client-0 did not say what it left");
	}

	private static List<String> leaks(int threads, int holds, int keys, String left) {
		return leaks(BASELINE.formatted(threads, holds, keys, left));
	}

	private static List<String> leaks(String baseline) {
		return Leaks.of("client-0", List.of("READY", baseline), true)
			.stream()
			.filter((check) -> !check.holds())
			.map(Run.Check::text)
			.toList();
	}

}
