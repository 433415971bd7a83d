package io.dlock.torture.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.dlock.torture.client.Outcome.Granted;
import io.dlock.torture.client.Outcome.NotGranted;
import io.dlock.torture.client.Workload.Cycle;
import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;
import io.dlock.torture.resource.ResourceClient;

/**
 * A thread that locks one key after the other and works under the lock.
 */
final class Worker implements Runnable {

	private static final Set<Event> QUIET = EnumSet.of(Event.REFUSED, Event.INTERRUPTED, Event.QUARANTINED);

	private final ClientOptions options;

	private final int thread;

	private final Contender contender;

	private final HistoryWriter history;

	private final AtomicLong attempts;

	private final AtomicBoolean stopped;

	private final Function<Workload, Cycle> choice;

	/**
	 * Create a worker.
	 * @param options how the client is to behave
	 * @param thread the number of the thread
	 * @param contender who locks
	 * @param history where to write what happens
	 * @param attempts counts the calls of the client
	 * @param stopped whether to come to an end
	 * @param choice the choice of its next cycle
	 */
	Worker(ClientOptions options, int thread, Contender contender, HistoryWriter history, AtomicLong attempts,
			AtomicBoolean stopped, Function<Workload, Cycle> choice) {
		this.options = options;
		this.thread = thread;
		this.contender = contender;
		this.history = history;
		this.attempts = attempts;
		this.stopped = stopped;
		this.choice = choice;
	}

	@Override
	public void run() {
		Workload workload = new Workload(this.options, this.thread, this.contender.abilities().renewing());
		try (ResourceClient resource = new ResourceClient(this.options.resourcePort())) {
			while (!this.stopped.get()) {
				Cycle cycle = this.choice.apply(workload);
				run(cycle, resource);
				// an interrupt that came too late to disturb this one is not for the next
				if (!Thread.interrupted()) {
					LockSupport.parkNanos(cycle.think().toNanos());
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void run(Cycle cycle, ResourceClient resource) {
		AttemptLog log = log(cycle);
		log.invoke();
		Outcome outcome = this.contender.acquire(cycle.call());
		if (outcome instanceof Granted granted) {
			log.granted(granted.holding());
			UnderLock lock = new UnderLock(this.contender, cycle, granted.holding(), log);
			if (cycle.downgraded()) {
				lock.runAndDowngrade(resource, log(cycle.shared())).ifPresent((shared) -> shared.run(resource));
			}
			else {
				lock.run(resource);
			}
		}
		else if (outcome instanceof NotGranted failed) {
			log.now(failed.event());
			if (!QUIET.contains(failed.event())) {
				System.err.println("%s at %d, attempt %d, %s: %s".formatted(failed.event(), System.nanoTime(),
						log.origin().attempt(), cycle.call(), failed.reason()));
			}
		}
	}

	private AttemptLog log(Cycle cycle) {
		return new AttemptLog(this.history,
				new Origin(this.options.client(), this.thread, this.attempts.incrementAndGet(), cycle.key()),
				cycle.call());
	}

}
