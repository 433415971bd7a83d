package io.dlock.torture.client;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.torture.client.Affliction.Dose;
import io.dlock.torture.client.Affliction.Effect;
import io.dlock.torture.history.Event;
import io.dlock.torture.server.StoreType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link KeyFlood} and {@link ManyLocks}.
 */
@Timeout(60)
class KeyFloodTests {

	private static final Duration LEASE = Duration.ofSeconds(1);

	private final ClientOptions options = new ClientOptions(0, 0, 1, LEASE, LEASE, 1, 1, Duration.ZERO, Duration.ZERO,
			Path.of("none"), 0, 0, 0, 0, 0, 0, false, 0, "fake",
			new StoreAddress(StoreType.REDIS, List.of(), "", new AtomicReference<>(""), "", null, 0));

	private final Locks locks = new Locks();

	@Test
	void everyKeyIsLockedOnceAndReleased() {
		Effect effect = flood(1000, Duration.ofSeconds(50));
		assertThat(effect.keys()).isBetween(1000, 1000 + 8 * HostileKeys.COUNT).isEqualTo(this.locks.seen.size());
		assertThat(effect.text()).isEqualTo("keys=%1$d granted=%1$d", effect.keys());
		assertThat(this.locks.held).isEmpty();
	}

	@Test
	void keyThatIsRefusedIsTold() {
		this.locks.refused = "%41";
		assertThat(printed(() -> flood(10, Duration.ofSeconds(50))))
			.matches("(?s)TROUBLE client-0-0 \\d+ \\d+ 1000000000 REFUSED key-flood kind=\\d+ .*<key>.*");
		assertThat(this.locks.held).isEmpty();
	}

	@Test
	void floodEndsWithItsTime() {
		// a busy machine may lock none before the time is over
		Awaitility.await().until(() -> flood(Integer.MAX_VALUE, Duration.ofMillis(200)).keys() > 0);
		assertThat(this.locks.held).isEmpty();
	}

	@Test
	void manyLocksAreHeldAtATimeAndReleased() {
		ManyLocks many = new ManyLocks(this.options, this.locks, troubles());
		Effect effect = many.suffer(doseUntilGranted(500));
		assertThat(effect.keys()).isEqualTo(500);
		assertThat(effect.text()).startsWith("granted=500 lost=0");
		assertThat(this.locks.most).isEqualTo(500);
		assertThat(this.locks.held).isEmpty();
	}

	@Test
	void lockOfManyThatIsLostIsToldOnce() {
		this.locks.losing = true;
		ManyLocks many = new ManyLocks(this.options, this.locks, troubles());
		assertThat(printed(() -> many.suffer(doseUntilGranted(3))).lines())
			.allMatch((line) -> line.matches("TROUBLE client-0-0 \\d+ \\d+ \\d+ LOST many-client-0-0-7-\\d lease=1000"))
			.hasSize(3);
	}

	private Effect flood(int amount, Duration time) {
		return new KeyFlood(this.options, this.locks, troubles()).suffer(dose(amount, time));
	}

	private Troubles troubles() {
		return new Troubles(this.options.instance(), this.options.waitTime());
	}

	private static Dose dose(int amount, Duration time) {
		return new Dose("client-0-0-7", System.nanoTime() + time.toNanos(), amount, new AtomicBoolean());
	}

	/**
	 * It ends when all locks are there, however long a busy machine takes for them.
	 */
	private Dose doseUntilGranted(int amount) {
		this.locks.enough = amount;
		return new Dose("client-0-0-7", System.nanoTime() + Duration.ofSeconds(50).toNanos(), amount,
				this.locks.complete);
	}

	private static String printed(Runnable action) {
		PrintStream before = System.out;
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
		try {
			action.run();
		}
		finally {
			System.setOut(before);
		}
		return bytes.toString(StandardCharsets.UTF_8);
	}

	/**
	 * Grants what is free, and forgets nothing.
	 */
	private static final class Locks implements Contender {

		private final Set<String> seen = ConcurrentHashMap.newKeySet();

		private final Set<String> held = ConcurrentHashMap.newKeySet();

		private volatile int most;

		private volatile String refused = "nothing";

		private volatile boolean losing;

		private volatile int enough = Integer.MAX_VALUE;

		private final AtomicBoolean complete = new AtomicBoolean();

		@Override
		public Outcome acquire(LockCall call) {
			if (call.key().endsWith(this.refused) || !this.seen.add(call.key()) || !this.held.add(call.key())) {
				return new Outcome.NotGranted(Event.REFUSED, "busy: " + call.key());
			}
			this.most = Math.max(this.most, this.held.size());
			this.complete.set(this.most >= this.enough);
			return new Outcome.Granted(new Holding() {

				@Override
				public boolean isValid() {
					return true;
				}

				@Override
				public void onLost(Runnable listener) {
					if (Locks.this.losing) {
						listener.run();
					}
				}

				@Override
				public Event release() {
					Locks.this.held.remove(call.key());
					return Locks.this.losing ? Event.RELEASED_LOST : Event.RELEASED;
				}

			});
		}

		@Override
		public Abilities abilities() {
			return new Abilities(false, true, false, true, 1, 1);
		}

		@Override
		public void close() {
		}

	}

}
