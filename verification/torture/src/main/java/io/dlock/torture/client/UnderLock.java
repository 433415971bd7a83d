package io.dlock.torture.client;

import java.util.Optional;

import io.dlock.torture.client.Outcome.Granted;
import io.dlock.torture.client.Outcome.NotGranted;
import io.dlock.torture.client.Workload.Cycle;
import io.dlock.torture.history.Event;
import io.dlock.torture.resource.ResourceClient;

/**
 * The use of a lock from its grant to its release.
 *
 * @param contender the contender that has granted it
 * @param cycle the work to do
 * @param holding the lock
 * @param log the log of the attempt
 */
record UnderLock(Contender contender, Cycle cycle, Holding holding, AttemptLog log) {

	void run(ResourceClient resource) {
		try {
			work(resource);
		}
		finally {
			release();
		}
	}

	/**
	 * Use the lock, and turn it into a shared one. For the judge that is the release of
	 * this one and another attempt, which begins before it and is granted before it ends.
	 * @param resource what to work on
	 * @param shared the log of the other attempt
	 * @return the use of the shared lock, unless it was not granted
	 */
	Optional<UnderLock> runAndDowngrade(ResourceClient resource, AttemptLog shared) {
		try {
			work(resource);
		}
		catch (RuntimeException ex) {
			release();
			throw ex;
		}
		shared.invokeDowngrade(this.log.origin().attempt());
		this.log.now(Event.RELEASE_SENT);
		Outcome outcome = this.holding.downgrade();
		if (outcome instanceof Granted granted) {
			shared.granted(granted.holding());
			this.log.now(Event.RELEASED);
			return Optional.of(new UnderLock(this.contender, this.cycle.shared(), granted.holding(), shared));
		}
		Event event = ((NotGranted) outcome).event();
		boolean lost = event == Event.RELEASED_LOST;
		this.log.now(lost ? event : Event.RELEASED);
		shared.now(lost ? Event.REFUSED : event);
		if (!lost) {
			System.err.println("%s at %d, downgrade of attempt %d: %s".formatted(event, System.nanoTime(),
					this.log.origin().attempt(), ((NotGranted) outcome).reason()));
		}
		return Optional.empty();
	}

	private void work(ResourceClient resource) {
		this.log.check(this.holding);
		this.holding.onLost(() -> this.log.now(Event.LOST));
		if (this.cycle.nested() && !this.cycle.call().async() && this.contender.abilities().reentrant()) {
			nest();
		}
		this.log.now(Event.BODY_START);
		new Body(this.cycle, this.holding, this.log, resource, this.contender.abilities()).run();
		this.log.now(Event.BODY_END);
	}

	private void release() {
		this.log.now(Event.RELEASE_SENT);
		this.log.now(this.holding.release());
	}

	private void nest() {
		long begin = System.nanoTime();
		Outcome outcome = this.contender.acquire(this.cycle.call());
		long took = System.nanoTime() - begin;
		if (outcome instanceof Granted granted) {
			this.log.write(Event.NESTED, granted.holding().token(), took, 0);
			granted.holding().release();
		}
		else if (((NotGranted) outcome).event() != Event.INTERRUPTED && this.log.check(this.holding)) {
			this.log.write(Event.NESTED_REFUSED, 0, took, 0);
		}
	}

}
