package io.dlock.torture.client;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.client.Workload.Cycle;
import io.dlock.torture.server.StoreType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Workload}.
 */
class WorkloadTests {

	private static final Duration LEASE = Duration.ofSeconds(1);

	@Test
	void oneOfFiftyCallsForSharedKeysWritesAfterItsLeaseWhateverTheSeed() {
		for (int seed = 0; seed < 100; seed++) {
			Workload workload = new Workload(options(seed), 0, true);
			List<Cycle> shared = Stream.generate(workload::next)
				.filter((cycle) -> Keys.isShared(cycle.key()))
				.limit(500)
				.toList();
			assertThat(shared).filteredOn(WorkloadTests::isLate).as("seed %d", seed).hasSizeGreaterThanOrEqualTo(10);
		}
	}

	private static boolean isLate(Cycle cycle) {
		return cycle.careless() && !cycle.call().renew() && cycle.body().compareTo(cycle.call().lease()) >= 0;
	}

	private static ClientOptions options(int seed) {
		return new ClientOptions(0, 0, seed, LEASE, LEASE, 1, 4, Duration.ZERO, Duration.ZERO, Path.of("none"), 0, 0, 0,
				0, 0, 0, false, 0, "fake",
				new StoreAddress(StoreType.REDIS, List.of(), "", new AtomicReference<>(""), "", null, 0));
	}

}
