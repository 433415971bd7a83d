package io.dlock.torture.judge;

import java.util.List;
import java.util.stream.Stream;

import io.dlock.torture.judge.Occupation.Cause;

/**
 * From when on somebody wanted a lock that nobody held, or could hold without knowing it.
 */
final class Wanted {

	private Wanted() {
	}

	/**
	 * Look for the first call that nothing but the store kept from its lock.
	 * @param run the run
	 * @param from the begin
	 * @param to the end, which is a grant
	 * @return when such a call was under way for the first time; not before the end if
	 * there was none
	 */
	static long between(Run run, long from, long to) {
		List<Taken> taken = run.attempts()
			.stream()
			.flatMap((attempt) -> taken(run, attempt, from, to))
			.filter((lock) -> lock.since < to && lock.until > from)
			.toList();
		return run.attempts()
			.stream()
			.filter((attempt) -> attempt.invoked() < to && underWayUntil(attempt) > from)
			.mapToLong((attempt) -> free(attempt.key(), Math.max(from, attempt.invoked()), taken))
			.min()
			.orElse(from);
	}

	/**
	 * A client in trouble of its own may have been granted a lock without knowing, and
	 * can not give it back. The others can.
	 */
	private static Stream<Taken> taken(Run run, Attempt attempt, long from, long to) {
		if (attempt.isGranted()) {
			return Stream.of(new Taken(attempt.key(), attempt.returned(), end(attempt)));
		}
		Intervals own = run.timeline().ownFaults(attempt.client().header().client());
		if (attempt.invoked() >= to || !own.intersects(attempt.invoked(), Math.max(from, attempt.invoked()))) {
			return Stream.empty();
		}
		return Occupation.of(attempt, run.limits())
			.stream()
			.filter((occupation) -> occupation.cause() == Cause.UNKNOWN)
			.map((occupation) -> new Taken(attempt.key(), occupation.since(), occupation.until()));
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
				if (lock.key == key && lock.since <= free && lock.until > free) {
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
	 * @param key the key
	 * @param since when it was taken
	 * @param until when it was free again
	 */
	private record Taken(int key, long since, long until) {

	}

}
