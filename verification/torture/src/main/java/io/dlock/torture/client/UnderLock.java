package io.dlock.torture.client;

import io.dlock.torture.client.Outcome.Granted;
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
			this.log.check(this.holding);
			this.holding.onLost(() -> this.log.now(Event.LOST));
			if (this.cycle.nested() && !this.cycle.call().async() && this.contender.abilities().reentrant()) {
				nest();
			}
			this.log.now(Event.BODY_START);
			new Body(this.cycle, this.holding, this.log, resource, this.contender.abilities()).run();
			this.log.now(Event.BODY_END);
		}
		finally {
			this.log.now(Event.RELEASE_SENT);
			this.log.now(this.holding.release());
		}
	}

	private void nest() {
		if (this.contender.acquire(this.cycle.call()) instanceof Granted granted) {
			this.log.write(Event.NESTED, granted.holding().token(), 0, 0);
			granted.holding().release();
		}
	}

}
