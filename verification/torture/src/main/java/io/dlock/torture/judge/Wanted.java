package io.dlock.torture.judge;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.dlock.torture.judge.Occupation.Cause;

/**
 * The times from which a client wanted a lock that no other held, or could hold without
 * knowing it.
 */
final class Wanted {

	private final Run run;

	private final Map<Integer, Intervals> ownFaults = new HashMap<>();

	private final List<Taken> taken;

	Wanted(Run run) {
		this.run = run;
		this.taken = run.attempts().stream().flatMap((attempt) -> taken(attempt, run.limits())).toList();
	}

	private static Stream<Taken> taken(Attempt attempt, Run.Limits limits) {
		if (attempt.isGranted()) {
			return Stream.of(new Taken(attempt, attempt.returned(), end(attempt)));
		}
		return Occupation.of(attempt, limits)
			.stream()
			.filter((occupation) -> occupation.cause() == Cause.UNKNOWN)
			.map((occupation) -> new Taken(attempt, occupation.since(), occupation.until()));
	}

	/**
	 * Look for the first call that nothing but the store kept from its lock.
	 * @param from the begin
	 * @param to the end, which is a grant
	 * @return when such a call was under way for the first time; not before the end if
	 * there was none
	 */
	long between(long from, long to) {
		List<Taken> inTheWay = this.taken.stream()
			.filter((lock) -> lock.since < to && lock.until > from && isTaken(lock, from))
			.toList();
		return this.run.attempts()
			.stream()
			.filter((attempt) -> attempt.invoked() < to && underWayUntil(attempt) > from)
			.mapToLong((attempt) -> free(attempt.key(), Math.max(from, attempt.invoked()), inTheWay))
			.min()
			.orElse(from);
	}

	/**
	 * A client in trouble of its own may have been granted a lock without knowing, and
	 * cannot give it back. The others can.
	 */
	private boolean isTaken(Taken lock, long time) {
		if (lock.attempt.isGranted()) {
			return true;
		}
		long invoked = lock.attempt.invoked();
		return this.ownFaults.computeIfAbsent(lock.attempt.client().header().client(), this.run.timeline()::ownFaults)
			.intersects(invoked, Math.max(time, invoked));
	}

	private static long underWayUntil(Attempt attempt) {
		return (attempt.returned() != 0) ? attempt.returned() : attempt.client().last();
	}

	/**
	 * When a key is free from a time on. Holds of a key follow each other.
	 */
	private static long free(int key, long from, List<Taken> taken) {
		long free = from;
		boolean moved = true;
		while (moved) {
			moved = false;
			for (Taken lock : taken) {
				if (lock.attempt.key() == key && lock.since <= free && lock.until > free) {
					free = lock.until;
					moved = true;
				}
			}
		}
		return free;
	}

	private static long end(Attempt hold) {
		long released = (hold.released() != 0) ? hold.released() : hold.end();
		return hold.isLost() ? Math.min(released, hold.lossKnown()) : released;
	}

	/**
	 * A lock that could not be had.
	 *
	 * @param attempt who had it, or may have had it
	 * @param since when it was taken
	 * @param until when it was free again
	 */
	private record Taken(Attempt attempt, long since, long until) {

	}

}
