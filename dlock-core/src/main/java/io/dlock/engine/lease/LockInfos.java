package io.dlock.engine.lease;

import java.time.Duration;
import java.time.Instant;

import io.dlock.LockInfo;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.store.StoredLock;

/**
 * Describes holders for people.
 */
public final class LockInfos {

	private LockInfos() {
	}

	public static LockInfo of(StoredLock lock) {
		return new LockInfo(lock.storageKey(), lock.holder(), lock.reason().isEmpty() ? null : lock.reason(),
				lock.since(), lock.until(), lock.token() * Lease.TOKENS_PER_LEASE,
				lock.age().isNegative() ? Duration.ZERO : lock.age(), lock.kept(), lock.member());
	}

	public static LockInfo of(Hold hold) {
		AcquireContext context = hold.context();
		MachineClock clock = hold.lease().clock();
		Instant until = Instant.ofEpochMilli(clock.wallMillis()).plusNanos(Math.max(0, hold.validNanosLeft()));
		return new LockInfo(context.storageKey(), context.holder(), context.request().reason(),
				Instant.ofEpochMilli(hold.since().wallMillis()), until, hold.token(), hold.age(), false,
				hold.lease().isMember());
	}

}
