package io.dlock.torture.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.dlock.store.Quarantine;
import io.dlock.torture.Keys;
import io.dlock.torture.client.Outcome.Granted;
import io.dlock.torture.client.Outcome.NotGranted;
import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;

/**
 * Keeps many locks with leases from less than one to sixty of the usual ones, which are
 * renewed beside each other as long as the client runs. Lost locks are taken again.
 */
final class Keeper implements Runnable {

	/** The lengths of one lease of eight, in usual leases. */
	private static final double[] SHORT = { 0.8, 1, 2, 4 };

	/** The lengths of the others: their renewals leave the processors to the rest. */
	private static final double[] LONG = { 12, 30, 60 };

	/** No thread of those that are watched: they are silent while they hold. */
	private static final int THREAD = -2;

	private static final int AT_A_TIME = 16;

	private static final int RELEASERS = 8;

	private static final long SWEEP_NANOS = 500_000_000;

	private final ClientOptions options;

	private final Contender contender;

	private final HistoryWriter history;

	private final AtomicLong attempts;

	private final AtomicBoolean stopped;

	private final Semaphore asking = new Semaphore(AT_A_TIME);

	Keeper(ClientOptions options, Contender contender, HistoryWriter history, AtomicLong attempts,
			AtomicBoolean stopped) {
		this.options = options;
		this.contender = contender;
		this.history = history;
		this.attempts = attempts;
		this.stopped = stopped;
	}

	@Override
	public void run() {
		List<Place> places = IntStream.range(0, this.options.kept()).mapToObj(Place::new).toList();
		while (!this.stopped.get()) {
			for (Place place : places) {
				place.checkOrAsk();
				if (this.stopped.get()) {
					break;
				}
			}
			LockSupport.parkNanos(SWEEP_NANOS);
		}
		this.asking.acquireUninterruptibly(AT_A_TIME);
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < RELEASERS; i++) {
			int part = i;
			threads.add(new Thread(
					() -> places.stream().filter((place) -> place.number % RELEASERS == part).forEach(Place::release)));
		}
		threads.forEach(Thread::start);
		for (Thread thread : threads) {
			try {
				thread.join();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private Duration lease(int number) {
		double[] lengths = (number % 8 == 0) ? SHORT : LONG;
		Duration lease = Duration
			.ofMillis(Math.round(this.options.lease().toMillis() * lengths[(number / 8) % lengths.length]));
		Quarantine quarantine = this.options.store().quarantine();
		return (quarantine != null && quarantine.longestLease().compareTo(lease) < 0) ? quarantine.longestLease()
				: lease;
	}

	/**
	 * The place of a lock.
	 */
	private final class Place {

		private final int number;

		private final AtomicReference<@Nullable Kept> kept = new AtomicReference<>();

		private final AtomicBoolean asked = new AtomicBoolean();

		Place(int number) {
			this.number = number;
		}

		void checkOrAsk() {
			Kept held = this.kept.get();
			if (held != null && !held.log().check(held.holding())) {
				release();
			}
			if (this.kept.get() == null && this.asked.compareAndSet(false, true)) {
				Keeper.this.asking.acquireUninterruptibly();
				ask();
			}
		}

		@SuppressWarnings("FutureReturnValueIgnored") // the callback notes the outcome
		private void ask() {
			int key = Keys.keptKey(this.number);
			LockCall call = new LockCall(Keys.name(key), lease(this.number), Keeper.this.options.lease(), true, true);
			AttemptLog log = new AttemptLog(Keeper.this.history,
					new Origin(Keeper.this.options.client(), THREAD, Keeper.this.attempts.incrementAndGet(), key),
					call);
			log.invoke();
			Keeper.this.contender.acquireAsync(call).whenComplete((outcome, failure) -> {
				if (outcome instanceof Granted lock) {
					log.granted(lock.holding());
					log.check(lock.holding());
					lock.holding().onLost(() -> log.now(Event.LOST));
					this.kept.set(new Kept(lock.holding(), log));
				}
				else {
					log.now((outcome instanceof NotGranted failed) ? failed.event() : Event.FAILED);
				}
				this.asked.set(false);
				Keeper.this.asking.release();
			});
		}

		void release() {
			Kept held = this.kept.getAndSet(null);
			if (held != null) {
				held.log().now(Event.RELEASE_SENT);
				held.log().now(held.holding().release());
			}
		}

	}

	/**
	 * A lock that is held.
	 *
	 * @param holding the lock
	 * @param log its history
	 */
	private record Kept(Holding holding, AttemptLog log) {

	}

}
