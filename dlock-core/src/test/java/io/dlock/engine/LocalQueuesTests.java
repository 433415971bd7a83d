package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LocalQueuesTests {

	private static final Lease.Terms TERMS = new Lease.Terms(Duration.ofSeconds(10), true);

	private final LeftoversOfTests leftovers = new LeftoversOfTests();

	private final LocalQueues queues = new LocalQueues(Duration.ofMillis(10).toNanos(), this.leftovers);

	private final List<String> signals = new ArrayList<>();

	private Turn join(String key, String name) {
		return this.queues.join(AcquisitionOfTests.of(key, TERMS), () -> this.signals.add(name));
	}

	@Test
	void firstComeFirstServed() {
		Turn a = join("key", "a");
		Turn b = join("key", "b");
		Turn c = join("key", "c");
		assertThat(a.isFirst()).isTrue();
		assertThat(b.isFirst()).isFalse();
		a.end();
		assertThat(b.isFirst()).isTrue();
		assertThat(c.isFirst()).isFalse();
		b.end();
		assertThat(c.isFirst()).isTrue();
		assertThat(this.signals).containsExactly("b", "c");
	}

	@Test
	void whoGivesUpInTheMiddleIsPassedOver() {
		Turn a = join("key", "a");
		Turn b = join("key", "b");
		Turn c = join("key", "c");
		b.end();
		a.end();
		assertThat(c.isFirst()).isTrue();
		assertThat(this.signals).containsExactly("c");
	}

	@Test
	void endingTwiceDoesNotPassTheTurnTwice() {
		Turn a = join("key", "a");
		Turn b = join("key", "b");
		Turn c = join("key", "c");
		a.end();
		a.end();
		assertThat(b.isFirst()).isTrue();
		assertThat(c.isFirst()).isFalse();
	}

	/**
	 * Whoever finds itself the first without an inheritance turns to the store. A thread
	 * looks whenever it wakes up, and it may wake up for nothing.
	 */
	@Test
	void heirInheritsBeforeItIsTheFirst() {
		TurnedClock clock = new TurnedClock();
		Turn a = join("key", "a");
		Turn b = join("key", "b");
		Lease lease = new Lease(new Lease.Grant(a, "owner", 1, clock.now(), null), clock, (hold, reason) -> {
		});
		List<Boolean> first = new ArrayList<>();
		clock.onReading = () -> first.add(b.isFirst());
		assertThat(a.endAndPass(lease)).isTrue();
		clock.onReading = () -> {
		};
		assertThat(first).as("while it inherits").isNotEmpty().containsOnly(false);
		assertThat(b.isFirst()).isTrue();
		assertThat(b.claim()).isNotNull();
	}

	@Test
	void b18KeysShareNothing() {
		join("0", "a");
		for (int i = 1; i < 2000; i++) {
			assertThat(join(String.valueOf(i), "other").isFirst()).as("key " + i).isTrue();
		}
		assertThat(join("Aa", "a").isFirst()).isTrue();
		assertThat(join("BB", "same hash code as Aa").isFirst()).isTrue();
	}

	@Test
	void b17b19QueueLivesFromTheFirstWaiterToTheLast() {
		List<Turn> held = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			held.add(join("key-" + i, "holder"));
		}
		for (int i = 0; i < 10_000; i++) {
			assertThat(join("key-" + i, "waiter").isFirst()).isFalse();
		}
		assertThat(this.queues.size()).isEqualTo(10_000);
		held.forEach(Turn::end);
		assertThat(this.queues.size()).isEqualTo(10_000);
	}

	@Test
	void emptyQueueIsRemoved() {
		Turn a = join("key", "a");
		Turn b = join("key", "b");
		b.end();
		a.end();
		assertThat(this.queues.size()).isZero();
	}

	@Test
	void everybodyIsSignalledWhenTheRegistryCloses() {
		join("key", "a");
		join("key", "b");
		join("other", "c");
		this.queues.signalAll();
		assertThat(this.signals).containsExactlyInAnyOrder("a", "b", "c");
	}

}
