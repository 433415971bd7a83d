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

/**
 * The pauses of {@link Acquisition}.
 */
class AcquisitionTests {

	private static final Duration LEASE = Duration.ofHours(1);

	private static Acquisition refused(int limit, boolean byMember) {
		AcquireContext context = new AcquireContext(LockRequest.of("key"),
				Deadline.after(MachineClock.SYSTEM, LockRequest.FOREVER), LockSettings.defaults(), limit);
		Acquisition acquisition = new Acquisition(context, null, null, null, null, MachineClock.SYSTEM,
				Duration.ofMinutes(5));
		StoredLock lock = new StoredLock("key", "holder", "", Instant.EPOCH, Instant.EPOCH.plus(LEASE), 1,
				Duration.ZERO, false, byMember);
		acquisition.note(new Refused(LEASE, lock, 0), MachineClock.SYSTEM.now());
		return acquisition;
	}

	/**
	 * A writer with a long poll interval was taken for dead.
	 */
	@Test
	void exclusiveRequestBehindMembersAsksTwiceInTenSeconds() {
		assertThat(Duration.ofNanos(refused(0, true).pauseNanos(true))).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void otherRequestsPauseLonger() {
		assertThat(Duration.ofNanos(refused(0, false).pauseNanos(true))).isGreaterThan(Duration.ofMinutes(2));
		assertThat(Duration.ofNanos(refused(AcquireCommand.UNLIMITED, true).pauseNanos(true)))
			.isGreaterThan(Duration.ofMinutes(2));
	}

}
