package io.dlock.store.jdbc.dialect;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;

import io.dlock.store.StoredLock;
import io.dlock.store.jdbc.dialect.AcquireAttempt.Held;

import static org.assertj.core.api.Assertions.assertThat;

class AcquireAttemptTests {

	private static Held held(long remainingMicros, String owner) {
		return new Held(remainingMicros, owner, 0, 0,
				new StoredLock("key", "the holder", "", Instant.EPOCH, Instant.EPOCH, 1, Duration.ZERO, false));
	}

	@Test
	void formerHolderOfAFreeLockIsNotNamed() {
		assertThat(held(-5, "").refusal(false)).satisfies((refused) -> {
			assertThat(refused.lock()).isNull();
			assertThat(refused.remaining()).isZero();
		});
		assertThat(held(5, ">0100abcdefghijkl").refusal(false).lock()).isNull();
		assertThat(held(5, "a").refusal(false)).satisfies((refused) -> {
			assertThat(refused.lock()).extracting(StoredLock::holder).isEqualTo("the holder");
			assertThat(refused.remaining()).isEqualTo(Duration.ofNanos(5000));
		});
	}

}
