package io.dlock.torture.judge;

import java.util.List;

/**
 * From when on somebody wanted a lock that nobody held.
 */
final class Wanted {

	private Wanted() {
	}

	/**
	 * Look for the first call that nothing but the store kept from its lock.
	 * @param attempts the calls to acquire
	 * @param from the begin
	 * @param to the end, which is a grant
	 * @return when such a call was under way for the first time
	 */
	static long between(List<Attempt> attempts, long from, long to) {
		List<Attempt> holds = attempts.stream()
			.filter((attempt) -> attempt.isGranted() && attempt.returned() < to && end(attempt) > from)
			.toList();
		return attempts.stream()
			.filter((attempt) -> attempt.invoked() < to && underWayUntil(attempt) > from)
			.mapToLong((attempt) -> free(attempt.key(), Math.max(from, attempt.invoked()), holds))
			.min()
			.orElse(from);
	}

	private static long underWayUntil(Attempt attempt) {
		return (attempt.returned() != 0) ? attempt.returned() : attempt.client().last();
	}

	/**
	 * When a key is free from a time on. Holds of a key follow each other.
	 */
	private static long free(int key, long from, List<Attempt> holds) {
		long free = from;
		boolean moved = true;
		while (moved) {
			moved = false;
			for (Attempt hold : holds) {
				if (hold.key() == key && hold.returned() <= free && end(hold) > free) {
					free = end(hold);
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

}
