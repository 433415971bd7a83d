package io.dlock.store.jdbc.dialect;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.dlock.store.jdbc.dialect.AcquireAttempt.Held;

import static org.assertj.core.api.Assertions.assertThat;

class AcquireAttemptTests {

	@Test
	void formerHolderOfAFreeLockIsNotNamed() {
		assertThat(new Held(-5, "", "the last holder", "").refusal()).satisfies((refused) -> {
			assertThat(refused.holder()).isNull();
			assertThat(refused.remaining()).isZero();
		});
		assertThat(new Held(5, ">0100abcdefghijkl", "the last holder", "").refusal().holder()).isNull();
		assertThat(new Held(5, "a", "the holder", "").refusal()).satisfies((refused) -> {
			assertThat(refused.holder()).isEqualTo("the holder");
			assertThat(refused.remaining()).isEqualTo(Duration.ofNanos(5000));
		});
	}

}
