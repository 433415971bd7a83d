package io.dlock.torture.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.dlock.torture.client.Outcome.Granted;
import io.dlock.torture.client.Outcome.NotGranted;
import io.dlock.torture.history.Event;

/**
 * Holds many locks that are renewed (F28b). The amount is how many.
 */
final class ManyLocks implements Affliction {

	private final ClientOptions options;

	private final Contender contender;

	private final Troubles troubles;

	ManyLocks(ClientOptions options, Contender contender, Troubles troubles) {
		this.options = options;
		this.contender = contender;
		this.troubles = troubles;
	}

	@Override
	public Effect suffer(Dose dose) {
		List<Held> held = new ArrayList<>();
		int tried = 0;
		while (tried < dose.amount() && dose.goesOn()) {
			acquire("many-" + dose.name() + "-" + tried++, held);
		}
		long complete = System.nanoTime();
		while (dose.goesOn()) {
			dose.pause();
		}
		String text = "granted=%d lost=%d held-for=%dms".formatted(held.size(),
				held.stream().filter((lock) -> lock.lost().get()).count(), (System.nanoTime() - complete) / 1_000_000);
		held.forEach(this::release);
		return new Effect(tried, text);
	}

	private void acquire(String key, List<Held> held) {
		long begin = System.nanoTime();
		Outcome outcome = this.contender
			.acquire(new LockCall(key, this.options.lease(), this.options.waitTime(), true, false));
		if (outcome instanceof Granted lock) {
			AtomicBoolean lost = new AtomicBoolean();
			held.add(new Held(lock.holding(), lost));
			lock.holding().onLost(() -> {
				lost.set(true);
				this.troubles.tell(Event.LOST, System.nanoTime(), key + " lease=" + this.options.lease().toMillis());
			});
		}
		else if (outcome instanceof NotGranted failed) {
			this.troubles.tell(failed.event(), begin, key + " " + failed.reason());
		}
	}

	/**
	 * A loss that the listener was told of needs no second excuse.
	 */
	private void release(Held lock) {
		long begin = System.nanoTime();
		Event event = lock.holding().release();
		if (event != Event.RELEASED && !lock.lost().get()) {
			this.troubles.tell(event, begin, "many-locks lease=" + this.options.lease().toMillis());
		}
	}

	/**
	 * A lock that is held.
	 *
	 * @param holding the lock
	 * @param lost whether the listener was told that it is lost
	 */
	private record Held(Holding holding, AtomicBoolean lost) {

	}

}
