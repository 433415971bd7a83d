package io.dlock.torture.judge;

import java.util.Map;
import java.util.TreeMap;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

/**
 * The calls for one kind of lock.
 *
 * @param granted those that were granted
 * @param refused those that were told of a holder
 * @param lost those that were granted and lost
 */
public record KindFigures(long granted, long refused, long lost) {

	/** The kinds that a run has if it was asked for such calls, by its options. */
	static final Map<String, String> ASKED = new TreeMap<>(
			Map.of("pollers", "try", "transfers", "set", "kept", "kept", "futures", "future"));

	private static final KindFigures NONE = new KindFigures(0, 0, 0);

	static Map<String, KindFigures> of(Run run) {
		Map<String, KindFigures> kinds = new TreeMap<>();
		run.attempts().forEach((attempt) -> kinds.merge(kind(attempt), NONE.plus(attempt), KindFigures::plus));
		return kinds;
	}

	private static String kind(Attempt attempt) {
		int key = attempt.key();
		if (Keys.isKept(key)) {
			return "kept";
		}
		if (Keys.isPolled(key)) {
			return "try";
		}
		if (Keys.isAccount(key)) {
			return "set";
		}
		if (Keys.isLimit(key)) {
			return "permit";
		}
		if (Keys.isPlace(key)) {
			return attempt.isExclusive() ? "exclusive beside shared" : "shared";
		}
		if (key == Keys.FAIR) {
			return "fair";
		}
		return attempt.isAsync() ? "future" : "exclusive";
	}

	private KindFigures plus(Attempt attempt) {
		return new KindFigures(this.granted + (attempt.isGranted() ? 1 : 0),
				this.refused + ((attempt.outcome() == Event.REFUSED) ? 1 : 0), this.lost + (attempt.isLost() ? 1 : 0));
	}

	private KindFigures plus(KindFigures other) {
		return new KindFigures(this.granted + other.granted, this.refused + other.refused, this.lost + other.lost);
	}

	@Override
	public String toString() {
		return "%d granted, %d refused, %d lost".formatted(this.granted, this.refused, this.lost);
	}

}
