package io.dlock.engine.lease;

import java.util.List;

import io.dlock.store.RenewResult;

/**
 * The number of leases to renew in one call to the store, which depends on the answers to
 * the calls before. Used by one thread after the other.
 */
final class RenewalBatchSize {

	/** The number of leases that a store renews well within its command timeout. */
	private static final int RENEWALS_AT_ONCE = 1000;

	/** The number of leases in a call to a store that is too slow for more. */
	private static final int FEWEST_RENEWALS_AT_ONCE = 10;

	/** The factor by which calls grow while a part of the store does not answer. */
	private static final int GROWTH_WITHOUT_ANSWER = 10;

	/** The number of leases in a call if calls have grown by that factor. */
	private static final int MOST_RENEWALS_AT_ONCE = 100_000;

	private int limit = RENEWALS_AT_ONCE;

	private int fewer = RENEWALS_AT_ONCE;

	private int most = RENEWALS_AT_ONCE;

	private int unansweredInARow;

	/**
	 * The size of the next call.
	 * @return the largest number of leases
	 */
	int limit() {
		return this.limit;
	}

	/**
	 * Note the answers to a call. If only a part of the store answers, as when a node of
	 * a cluster is down, each call takes as long as its timeout, so that few calls have
	 * to suffice.
	 * @param results the answers, one for each lease
	 */
	void answered(List<RenewResult> results) {
		if (results.stream().allMatch(RenewResult.UNKNOWN::equals)) {
			this.limit = nextWithoutAnswer(results.size());
			return;
		}
		this.unansweredInARow = 0;
		if (results.contains(RenewResult.UNKNOWN)) {
			this.limit = Math.min(this.limit * GROWTH_WITHOUT_ANSWER, MOST_RENEWALS_AT_ONCE);
		}
		else {
			this.limit = nextAfterAnswer(results.size());
		}
	}

	/**
	 * Twice as many as a full call, up to half of those that got no answer, and a tenth
	 * more from there on (compare Chiu and Jain, 1989): the largest calls would otherwise
	 * fail again and again, each with the leases that failed before.
	 */
	private int nextAfterAnswer(int size) {
		if (size >= this.most) {
			this.most = Math.min(size + size / 10 + 1, RENEWALS_AT_ONCE);
			this.fewer = this.most;
		}
		else if (size >= this.fewer) {
			this.fewer = Math.min(2 * size, this.most);
		}
		return this.fewer;
	}

	/**
	 * A call without any answer may have been too large for a slow store, and would fail
	 * again as often as it is repeated. Or all of its leases were in the part of the
	 * store that does not answer, which takes the fewer calls the larger they are. So a
	 * small call and a large one follow each other.
	 */
	private int nextWithoutAnswer(int size) {
		this.unansweredInARow++;
		if (this.unansweredInARow == 1 && size >= this.fewer) {
			this.most = Math.max(size / 2, FEWEST_RENEWALS_AT_ONCE);
		}
		if (this.unansweredInARow % 2 == 0) {
			return RENEWALS_AT_ONCE;
		}
		this.fewer = Math.max(this.fewer / 10, FEWEST_RENEWALS_AT_ONCE);
		return this.fewer;
	}

}
