package io.dlock.torture.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.dlock.torture.client.Outcome.Granted;
import io.dlock.torture.client.Outcome.NotGranted;
import io.dlock.torture.history.Event;

/**
 * Locks and releases as many keys as there is time for, each once (F30). The amount is
 * the largest number. Keys that differ in little are held at the same time: if a
 * component takes them for one, the second is refused.
 */
final class KeyFlood implements Affliction {

	private static final int THREADS = 8;

	private static final long SLOW_NANOS = Duration.ofMillis(100).toNanos();

	/** Not to fail a thousand times while the store is down. */
	private static final long AFTER_FAILURE_NANOS = Duration.ofMillis(10).toNanos();

	private final ClientOptions options;

	private final Contender contender;

	private final Troubles troubles;

	KeyFlood(ClientOptions options, Contender contender, Troubles troubles) {
		this.options = options;
		this.contender = contender;
		this.troubles = troubles;
	}

	@Override
	public Effect suffer(Dose dose) {
		AtomicInteger names = new AtomicInteger();
		AtomicInteger tried = new AtomicInteger();
		AtomicInteger granted = new AtomicInteger();
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			threads.add(new Thread(() -> {
				while (dose.goesOn() && tried.get() < dose.amount()) {
					flood(dose, dose.name() + "-" + names.incrementAndGet(), tried, granted);
				}
			}, "flood-" + i));
		}
		threads.forEach(Thread::start);
		threads.forEach(KeyFlood::join);
		return new Effect(tried.get(), "keys=%d granted=%d".formatted(tried.get(), granted.get()));
	}

	private void flood(Dose dose, String name, AtomicInteger tried, AtomicInteger granted) {
		List<Holding> held = new ArrayList<>();
		List<String> keys = HostileKeys.of("flood-" + name);
		for (int kind = 0; kind < keys.size() && dose.goesOn(); kind++) {
			boolean async = tried.incrementAndGet() % 2 == 0;
			long begin = System.nanoTime();
			Outcome outcome = this.contender.acquire(new LockCall(keys.get(kind), this.options.lease(),
					this.options.waitTime(), this.contender.abilities().renewing(), async));
			String text = "key-flood kind=" + kind + " async=" + async;
			if (outcome instanceof Granted lock) {
				granted.incrementAndGet();
				held.add(lock.holding());
				if (System.nanoTime() - begin > SLOW_NANOS) {
					this.troubles.tell(Event.GRANTED, begin, text);
				}
			}
			else if (outcome instanceof NotGranted failed) {
				this.troubles.tell(failed.event(), begin,
						text + " " + failed.reason().replace(keys.get(kind), "<key>"));
				LockSupport.parkNanos(AFTER_FAILURE_NANOS);
			}
		}
		held.forEach((lock) -> release(lock, name));
	}

	private void release(Holding lock, String name) {
		long begin = System.nanoTime();
		Event event = lock.release();
		if (event != Event.RELEASED) {
			this.troubles.tell(event, begin, "key-flood " + name);
		}
	}

	private static void join(Thread thread) {
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
