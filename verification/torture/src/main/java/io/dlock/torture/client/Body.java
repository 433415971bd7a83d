package io.dlock.torture.client;

import java.util.concurrent.locks.LockSupport;

import io.dlock.torture.client.Contender.Abilities;
import io.dlock.torture.client.Workload.Cycle;
import io.dlock.torture.history.Event;
import io.dlock.torture.resource.Reply;
import io.dlock.torture.resource.ResourceClient;

/**
 * The work under a lock: reads the counters, takes its time, and writes them back. It
 * asks all the time whether the lock is held, and writes the answers down. Silent work
 * does not ask while the lock may be lost, because the question would tell the listener
 * as well. Careful work stops when the lock is not held; careless work writes all the
 * same, as most programs do, with the token that the lock shows then. The holder of one
 * of several places only reads.
 */
final class Body {

	private static final long CHECK_EVERY_NANOS = 3_000_000;

	private final Cycle cycle;

	private final Holding holding;

	private final AttemptLog log;

	private final ResourceClient resource;

	private final Abilities abilities;

	private boolean lost;

	private boolean interrupted;

	Body(Cycle cycle, Holding holding, AttemptLog log, ResourceClient resource, Abilities abilities) {
		this.cycle = cycle;
		this.holding = holding;
		this.log = log;
		this.resource = resource;
		this.abilities = abilities;
	}

	void run() {
		try {
			if (this.cycle.call().places() > 1) {
				read();
			}
			else {
				use();
			}
		}
		finally {
			if (this.interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private void use() {
		Reply read = this.abilities.fenced() ? this.resource.readFenced(this.log.origin(), this.holding.token()) : null;
		Reply unfenced = this.resource.readUnfenced(this.log.origin());
		if (read != null) {
			answered(Event.FENCED_READ, read);
		}
		work();
		awaitListener();
		check();
		if (gaveUp()) {
			return;
		}
		if (read != null && read.accepted()) {
			answered(Event.FENCED_WRITE,
					this.resource.writeFenced(this.log.origin(), this.holding.token(), read.value() + 1));
		}
		answered(Event.UNFENCED_WRITE, this.resource.writeUnfenced(this.log.origin(), unfenced.value() + 1));
		check();
	}

	/**
	 * A value does not change as long as its reader is valid.
	 */
	private void read() {
		Reply before = this.resource.readShared(this.log.origin(), this.holding.token());
		work();
		awaitListener();
		check();
		if (gaveUp()) {
			return;
		}
		Reply after = this.resource.readShared(this.log.origin(), this.holding.token());
		if (before.accepted() && after.accepted() && this.log.check(this.holding)) {
			this.log.write(Event.SHARED_READ, this.holding.token(), before.value(), after.value());
		}
	}

	/**
	 * Take the time that it takes. An interrupt does not end it.
	 */
	private void work() {
		long begin = System.nanoTime();
		long left = this.cycle.body().toNanos();
		while (left > 0 && !gaveUp()) {
			LockSupport.parkNanos(Math.min(left, CHECK_EVERY_NANOS));
			this.interrupted |= Thread.interrupted();
			check();
			left = this.cycle.body().toNanos() - (System.nanoTime() - begin);
		}
	}

	private void check() {
		if (!isSilent() || !this.log.isListenersTurn()) {
			this.lost = this.lost || !this.log.check(this.holding);
		}
	}

	/**
	 * Work that goes on until the listener must know takes a little longer to see whether
	 * it does.
	 */
	private void awaitListener() {
		while (isSilent() && !this.lost && this.log.isListenersTurn()) {
			LockSupport.parkNanos(CHECK_EVERY_NANOS);
			this.interrupted |= Thread.interrupted();
		}
	}

	/**
	 * There is no point in it for a holder who is not told of a loss, or has to renew the
	 * lock itself.
	 */
	private boolean isSilent() {
		return this.cycle.silent() && this.abilities.notified();
	}

	private boolean gaveUp() {
		return this.lost && !this.cycle.careless();
	}

	private void answered(Event event, Reply reply) {
		this.log.write(reply.accepted() ? event : Event.FENCED_REJECTED, this.holding.token(), reply.value(),
				reply.highest());
	}

}
