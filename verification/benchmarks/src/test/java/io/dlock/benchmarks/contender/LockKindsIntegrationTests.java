package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.dlock.benchmarks.Servers;
import io.dlock.benchmarks.load.Exclusion;
import io.dlock.benchmarks.load.Load;
import io.dlock.benchmarks.load.LoadGenerator;
import io.dlock.benchmarks.load.Places;
import io.dlock.benchmarks.load.ReadersAndWriters;
import io.dlock.benchmarks.load.SharedWords;
import io.dlock.benchmarks.load.Window;

import static org.assertj.core.api.Assertions.assertThat;

class LockKindsIntegrationTests {

	private static final int THREADS = 6;

	@Test
	void eachKindKeepsOthersOut() throws InterruptedException {
		try (Servers servers = Servers.start(EnumSet.of(Backend.REDIS))) {
			for (ContenderType type : List.of(ContenderType.DLOCK, ContenderType.REDISSON)) {
				try (Contender contender = type.connect(servers.address(Backend.REDIS), Duration.ofSeconds(30))) {
					for (LockKind kind : List.of(LockKind.TWO_KEYS, LockKind.READ, LockKind.PERMIT)) {
						check(contender, kind);
					}
				}
			}
		}
	}

	private static void check(Contender contender, LockKind kind) throws InterruptedException {
		SharedWords words = SharedWords.local();
		Exclusion using = new Places(words, kind);
		Exclusion writing = new Places(words, LockKind.WRITE);
		List<ReadersAndWriters> mixed = Stream
			.generate(() -> new ReadersAndWriters(contender.open(kind.name(), LockKind.READ),
					contender.open(kind.name(), LockKind.WRITE), using, writing))
			.limit((kind == LockKind.READ) ? THREADS : 0)
			.toList();
		Load load;
		do {
			// a window may be over before a busy machine has connected
			load = LoadGenerator.run(THREADS, 1,
					(thread) -> mixed.isEmpty() ? contender.open(kind.name(), kind) : mixed.get(thread),
					(thread) -> mixed.isEmpty() ? using : mixed.get(thread),
					Window.after(System.nanoTime(), Duration.ZERO, Duration.ofMillis(200)));
		}
		while (load.cycles() == 0 && load.lastError() == null);
		assertThat(load.lastError()).as("%s of %s", kind, contender).isNull();
		assertThat(load.cycles()).isPositive().isEqualTo(using.cycles());
		assertThat(using.violations() + writing.violations()).as("%s of %s", kind, contender).isZero();
	}

}
