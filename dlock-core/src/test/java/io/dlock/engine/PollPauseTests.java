package io.dlock.engine;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoredLock;

import static org.assertj.core.api.Assertions.assertThat;

class PollPauseTests {

	private static final Duration LEASE = Duration.ofHours(1);

	private static Duration pause(int limit, boolean byMember) {
		AcquireContext context = new AcquireContext(LockRequest.of("key"),
				Deadline.after(MachineClock.SYSTEM, LockRequest.FOREVER), LockSettings.defaults(), limit);
		StoredLock lock = new StoredLock("key", "holder", "", Instant.EPOCH, Instant.EPOCH.plus(LEASE), 1,
				Duration.ZERO, false, byMember);
		return Duration.ofNanos(new PollPause(context, Duration.ofMinutes(5)).nanos(new Refused(LEASE, lock, 0), true));
	}

	/**
	 * A writer with a long poll interval was taken for dead.
	 */
	@Test
	void exclusiveRequestBehindMembersAsksTwiceInTenSeconds() {
		assertThat(pause(0, true)).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void otherRequestsPauseLonger() {
		assertThat(pause(0, false)).isGreaterThan(Duration.ofMinutes(2));
		assertThat(pause(AcquireCommand.UNLIMITED, true)).isGreaterThan(Duration.ofMinutes(2));
	}

}
