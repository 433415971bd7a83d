package io.dlock.torture.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.dlock.torture.client.Outcome.Granted;
import io.dlock.torture.client.Outcome.NotGranted;
import io.dlock.torture.client.Workload.Cycle;
import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;
import io.dlock.torture.resource.ResourceClient;

/**
 * Asks for many locks at a time and waits for none of them: once in a lease, each slot
 * whose last request is done begins the next. Most slots have a key of their own. The
 * thread that completes a future writes the grant down, and a few others work under the
 * lock.
 */
final class Futures implements Runnable {

	/** The number of the first slot, which counts as a thread. */
	static final int FIRST = 100;

	/** One of so many slots wants the keys that all clients share. */
	private static final int SHARED = 8;

	private static final int BODIES = 3;

	private static final long STEP_NANOS = 20_000_000;

	private final ClientOptions options;

	private final Contender contender;

	private final HistoryWriter history;

	private final AtomicLong attempts;

	private final AtomicBoolean stopped;

	private final BlockingQueue<Work> granted = new LinkedBlockingQueue<>();

	private final AtomicBoolean over = new AtomicBoolean();

	Futures(ClientOptions options, Contender contender, HistoryWriter history, AtomicLong attempts,
			AtomicBoolean stopped) {
		this.options = options;
		this.contender = contender;
		this.history = history;
		this.attempts = attempts;
		this.stopped = stopped;
	}

	@Override
	public void run() {
		List<Thread> bodies = new ArrayList<>();
		for (int i = 0; i < BODIES; i++) {
			Thread body = new Thread(this::work, "future-body-" + i);
			body.start();
			bodies.add(body);
		}
		List<Slot> slots = new ArrayList<>();
		for (int i = 0; i < this.options.futures(); i++) {
			slots.add(new Slot(FIRST + i, new Workload(this.options, FIRST + i, true), new AtomicBoolean()));
		}
		while (!this.stopped.get()) {
			long next = System.nanoTime() + this.options.lease().toNanos();
			slots.stream().filter((slot) -> slot.busy().compareAndSet(false, true)).forEach(this::ask);
			while (!this.stopped.get() && System.nanoTime() < next) {
				LockSupport.parkNanos(STEP_NANOS);
			}
		}
		while (slots.stream().anyMatch((slot) -> slot.busy().get())) {
			LockSupport.parkNanos(STEP_NANOS);
		}
		this.over.set(true);
		bodies.forEach(Futures::join);
	}

	@SuppressWarnings("FutureReturnValueIgnored") // the callback ends the slot
	private void ask(Slot slot) {
		Cycle cycle = slot.workload().nextFuture(slot.number(), slot.number() % SHARED != 0);
		Origin origin = new Origin(this.options.client(), slot.number(), this.attempts.incrementAndGet(), cycle.key());
		AttemptLog log = new AttemptLog(this.history, origin, cycle.call());
		log.invoke();
		this.contender.acquireAsync(cycle.call()).whenComplete((outcome, failure) -> {
			if (outcome instanceof Granted lock) {
				log.granted(lock.holding());
				this.granted.add(new Work(slot, new UnderLock(this.contender, cycle, lock.holding(), log)));
				return;
			}
			log.now((outcome instanceof NotGranted failed) ? failed.event() : Event.FAILED);
			slot.busy().set(false);
		});
	}

	private void work() {
		try (ResourceClient resource = new ResourceClient(this.options.resourcePort())) {
			while (!this.over.get()) {
				Work next = this.granted.poll(STEP_NANOS, TimeUnit.NANOSECONDS);
				if (next != null) {
					next.underLock().run(resource);
					next.slot().busy().set(false);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
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

	/**
	 * The place of one request after the other.
	 *
	 * @param number its number
	 * @param workload the source of its requests
	 * @param busy whether it is not done with the last
	 */
	private record Slot(int number, Workload workload, AtomicBoolean busy) {

	}

	/**
	 * A lock to work under.
	 *
	 * @param slot the slot of the request
	 * @param underLock the work
	 */
	private record Work(Slot slot, UnderLock underLock) {

	}

}
