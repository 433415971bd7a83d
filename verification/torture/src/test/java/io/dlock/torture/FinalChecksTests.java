package io.dlock.torture;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.dlock.torture.server.StoreStub;
import io.dlock.torture.server.StoreType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link FinalChecks}.
 */
class FinalChecksTests {

	private final AtomicLong looks = new AtomicLong();

	@Test
	void i11MailboxThatOpensLateBelongsToTheBaseline() {
		Map<String, Long> before = FinalChecks
			.quiet(() -> Map.of("channels", Math.min(3, this.looks.getAndIncrement())), Duration.ofMillis(300));
		assertThat(before).containsEntry("channels", 3L);
	}

	@Test
	void i11MailboxThatOpensAfterTheWarmUpIsNoLeak() {
		assertThat(FinalChecks.withMailboxes(Map.of("channels", 2L, "connections", 5L, "locks", 0L), 3, 0))
			.isEqualTo(Map.of("channels", 3L, "connections", 6L, "locks", 0L));
		assertThat(FinalChecks.withMailboxes(Map.of("channels", 3L, "connections", 6L), 3, 0))
			.isEqualTo(Map.of("channels", 3L, "connections", 6L));
		assertThat(FinalChecks.withMailboxes(Map.of("connections", 6L), 3, 0)).isEqualTo(Map.of("connections", 6L));
		assertThat(FinalChecks.withMailboxes(Map.of("connections", 17L), 3, 6)).isEqualTo(Map.of("connections", 18L));
	}

	@Test
	void i11OneMoreThanBeforeIsALeak() {
		assertThat(checks(Map.of("locks", 2L, "rows", 7L))).startsWith("OK I11 ");
		assertThat(checks(Map.of("locks", 3L, "rows", 7L))).startsWith("VIOLATION I11 ");
		assertThat(checks(Map.of("locks", 2L, "rows", 8L))).as("a row for each key").startsWith("VIOLATION I11 ");
	}

	private static String checks(Map<String, Long> after) {
		FinalChecks checks = new FinalChecks();
		checks.store("gone", new StoreStub(StoreType.REDIS, List.of(), after),
				new FinalChecks.Before(Map.of("locks", 2L, "rows", 4L), 3, Set.of()), Duration.ZERO);
		return checks.lines().get(1);
	}

	@Test
	void i11StoreThatNeverComesToRestIsNotWaitedForWithoutEnd() {
		Map<String, Long> before = FinalChecks.quiet(() -> Map.of("rows", this.looks.getAndIncrement()),
				Duration.ofMillis(30));
		assertThat(before).containsEntry("rows", this.looks.get() - 1);
	}

}
