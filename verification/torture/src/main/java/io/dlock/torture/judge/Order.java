package io.dlock.torture.judge;

import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.torture.history.Event;

/**
 * I12: the history of each key is one of a fenced mutex with leases. There is an order of
 * all grants and releases, each at some moment of its call, in which tokens rise, and in
 * which a lock is granted only after the one before was released, or after the time until
 * which it was certain to be held, unless its holder knew before that it was lost.
 * <p>
 * In general such an order has to be searched for. Here the tokens say in which order the
 * grants must have been, and of all moments that are possible the earliest is best for
 * all that follow. So a walk decides it exactly, for histories of any length.
 * <p>
 * This is stricter than {@link Exclusion}: a holder that died must have its time as well.
 * Only exclusive holds are judged.
 */
final class Order {

	private Order() {
	}

	static void judge(Run run, Findings findings) {
		for (List<Attempt> attempts : run.byKey().values()) {
			Attempt before = null;
			long moment = Long.MIN_VALUE;
			for (Attempt grant : attempts.stream()
				.filter((attempt) -> attempt.isGranted() && attempt.token() != 0 && attempt.isExclusive())
				.sorted(Comparator.comparingLong(Attempt::token))
				.toList()) {
				findings.judged(Invariant.I12);
				long earliest = Math.max(Math.max(moment, grant.invoked()), end(before));
				if (earliest > grant.returned()) {
					findings.violation(Invariant.I12, grant.returned(),
							"%s was granted %.3f ms before %s can have ended".formatted(grant,
									(earliest - grant.returned()) / 1e6, before));
				}
				moment = Math.min(earliest, grant.returned());
				before = grant;
			}
		}
	}

	/**
	 * The earliest time at which another client can have got the lock.
	 */
	private static long end(@Nullable Attempt hold) {
		if (hold == null || hold.validUntil() == 0 || (hold.isLost() && hold.lossKnown() < hold.validUntil())) {
			return Long.MIN_VALUE;
		}
		boolean released = hold.releaseSent() != 0 && hold.release() != Event.RELEASED_LOST;
		return released ? Math.min(hold.releaseSent(), hold.validUntil()) : hold.validUntil();
	}

}
