package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.torture.history.Event;
import io.dlock.torture.judge.Intervals.Interval;

/**
 * Something that may occupy a key in the store: a lock that is held, or what may be left
 * of one.
 *
 * @param cause what
 * @param begun when it can have begun at the earliest
 * @param since from when on it has to be reckoned with
 * @param until when the key is free again at the latest, as far as this is concerned
 */
record Occupation(Cause cause, long begun, long since, long until) {

	/**
	 * The time that a request may be on its way while the machine is not slow: the watch
	 * of the machine, which uses a proxy as well, notes what takes longer.
	 */
	private static final long ON_ITS_WAY = 25_000_000;

	/** A long lease is at least as many usual ones. */
	private static final int LONG = 5;

	/**
	 * The part of a long lease in which it is given back: at most ten requests a second
	 * are given back again.
	 */
	private static final double REVOKED = 0.3;

	/**
	 * The times that an attempt may occupy a key. Requests that were on their way when a
	 * fault began may arrive when it ends.
	 * @param limits what may be expected
	 */
	static List<Occupation> of(Attempt attempt, Run.Limits limits) {
		List<Occupation> occupations = new ArrayList<>();
		Client client = attempt.client();
		if (attempt.returned() == 0 || (attempt.isGranted() && attempt.released() == 0)) {
			long since = attempt.isGranted() ? attempt.returned() : attempt.invoked();
			long end = (client.killed() != 0) ? client.killed() : client.last();
			occupations.add(lasting(Cause.KILLED, attempt, since, arrived(client, end), limits));
		}
		else if (attempt.isGranted()) {
			occupations.add(held(attempt, limits));
		}
		else if (attempt.outcome() != Event.REFUSED || faulty(attempt, attempt.invoked(), attempt.returned())) {
			// it may be granted, unnoticed, long before it returns, or when the machine,
			// which
			// was slow then, has come to it
			long arrived = client.pauses().lastEnd(attempt.returned(), attempt.returned(), attempt.returned());
			occupations.add(lasting(Cause.UNKNOWN, attempt, attempt.invoked(), arrived, limits));
		}
		else if (attempt.waitLimit() > 0) {
			// its turn may have been kept for it when it left
			occupations.add(new Occupation(Cause.LEFT, attempt.invoked(), attempt.returned(),
					attempt.returned() + limits.turn()));
		}
		long waitingUntil = (attempt.returned() != 0) ? attempt.returned() : client.last();
		for (Interval pause : client.pauses().beginningIn(attempt.invoked(), waitingUntil)) {
			// a request that was on its way is granted while its client is gone
			occupations.add(during(pause, attempt, limits));
		}
		long paused = client.pauses().lastEnd(attempt.invoked(), attempt.invoked(), 0);
		boolean stopped = paused <= waitingUntil || waitingUntil - attempt.invoked() > limits.commandTimeout();
		if (paused != 0 && stopped) {
			// a pause is on record a moment before it begins, when a call still gets out,
			// and a moment after its end, when the call has returned
			occupations.add(lasting(Cause.UNKNOWN, attempt, attempt.invoked(),
					Math.min(waitingUntil, attempt.invoked() + limits.commandTimeout()), limits));
		}
		return occupations;
	}

	private static Occupation held(Attempt attempt, Run.Limits limits) {
		boolean clean = attempt.release() == Event.RELEASED && !attempt.isLost()
				&& !faulty(attempt, attempt.releaseSent(), attempt.released())
				&& attempt.released() - attempt.releaseSent() < limits.answered();
		if (clean) {
			return new Occupation(Cause.RELEASED, attempt.invoked(), attempt.returned(), attempt.released());
		}
		if (!attempt.isLost()) {
			return lasting(Cause.UNKNOWN, attempt, attempt.returned(), attempt.released(), limits);
		}
		// no renewal was sent while the process did not run
		long known = attempt.lossKnown();
		long held = Math.max(attempt.returned(), attempt.heldUntil());
		long paused = attempt.client().pauses().covered(held, known);
		return lasting(Cause.LOST, attempt, attempt.returned(), known - paused, limits);
	}

	/**
	 * A process that stood still for less than a command may take reads the answer all
	 * the same, and gives back a lock that is of no use any more.
	 */
	private static Occupation during(Interval pause, Attempt attempt, Run.Limits limits) {
		long given = pause.to() + limits.commandTimeout();
		long waited = attempt.client().waits().covered(pause.from(), pause.to());
		if (waited < limits.commandTimeout() / 2 && !faulty(attempt, pause.from(), given)) {
			return new Occupation(Cause.UNKNOWN, attempt.invoked(), pause.from(), given);
		}
		return lasting(Cause.UNKNOWN, attempt, pause.from(), pause.from(), limits);
	}

	/**
	 * A client sends requests until it is killed, and the last of them is in the proxy or
	 * waits for the server then. Calls that return have a command timeout for that.
	 */
	private static long arrived(Client client, long killed) {
		long arrived = killed + ON_ITS_WAY;
		return client.pauses().lastEnd(killed, arrived, arrived);
	}

	/**
	 * It occupies the key for a lease after the last that it can have sent. Of a long
	 * lease without a holder no more than a part is left, once its client is well.
	 */
	private static Occupation lasting(Cause cause, Attempt attempt, long since, long lastSent, Run.Limits limits) {
		long arrived = attempt.client().storeFaults().lastEnd(lastSent - attempt.lease(), lastSent, lastSent);
		boolean revoked = cause == Cause.UNKNOWN && limits.notified() && attempt.lease() >= LONG * limits.lease();
		return new Occupation(cause, attempt.invoked(), since,
				revoked ? revoked(attempt, arrived) : arrived + attempt.lease());
	}

	/**
	 * A client gives back what it may have been granted without an answer, again and
	 * again in case the request is late, until the lease is over by its clocks.
	 */
	private static long revoked(Attempt attempt, long arrived) {
		Client client = attempt.client();
		long end = arrived + attempt.lease();
		long time = (long) (REVOKED * attempt.lease());
		long well = arrived;
		long ill = client.storeFaults().lastEnd(well, well + time, well);
		while (ill > well && well < end) {
			well = ill;
			ill = client.storeFaults().lastEnd(well, well + time, well);
		}
		long revoked = well + time + client.pauses().covered(well, end);
		boolean given = (client.killed() == 0 || client.killed() > revoked)
				&& !client.turned().intersects(attempt.invoked(), revoked);
		return given ? Math.min(end, revoked) : end;
	}

	private static boolean faulty(Attempt attempt, long from, long to) {
		return attempt.client().storeFaults().intersects(from, to);
	}

	/**
	 * All occupations of a key, in the order in which they have to be reckoned with.
	 * @param attempts the attempts on the key
	 * @param limits what may be expected
	 */
	static List<Occupation> ofAll(List<Attempt> attempts, Run.Limits limits) {
		return attempts.stream()
			.flatMap((attempt) -> of(attempt, limits).stream())
			.sorted(Comparator.comparingLong(Occupation::since))
			.toList();
	}

	static @Nullable Occupation later(@Nullable Occupation one, Occupation other) {
		return (one == null || other.until() >= one.until()) ? other : one;
	}

	/**
	 * This occupation with the turns that are kept for calls that left: one for each
	 * client.
	 * @param last the occupation that lasts longer, if there is one
	 * @param turns the time that all turns may last
	 * @return the occupation that ends first
	 */
	Occupation withTurns(@Nullable Occupation last, long turns) {
		return (last != null && last.until <= this.until + turns) ? last
				: new Occupation(this.cause, this.begun, this.since, this.until + turns);
	}

	/**
	 * The reason that a key is occupied.
	 */
	enum Cause {

		/** It was held and released. */
		RELEASED,

		/** It was waited for and left. */
		LEFT,

		/** It was held and lost. */
		LOST,

		/** It may have been granted unnoticed. */
		UNKNOWN,

		/** Its client was killed. */
		KILLED

	}

}
