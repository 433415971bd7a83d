package io.dlock;

import java.lang.management.ManagementFactory;
import java.time.Duration;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockRequestTests {

	@Test
	void requestWithoutValuesUsesDefaultsOfRegistry() {
		LockRequest request = LockRequest.of("key");
		assertThat(request.lease()).isNull();
		assertThat(request.waitTime()).isNull();
		assertThat(request.renew()).isTrue();
		assertThat(request.reentrant()).isTrue();
		assertThat(request).isEqualTo(LockRequest.builder("key").build())
			.isEqualTo(LockRequest.of("other").withKey("key"));
	}

	@Test
	void nullKeyIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(null))
			.withMessageContaining("must not be null");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\t\n", "\u2003" })
	void blankKeyIsRefused(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(key)).withMessageContaining("blank");
	}

	@Test
	void keyLengthIsLimited() {
		LockRequest.of("x".repeat(LockRequest.MAX_KEY_LENGTH));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> LockRequest.of("x".repeat(LockRequest.MAX_KEY_LENGTH + 1)))
			.withMessageContaining("65536")
			.satisfies((ex) -> assertThat(ex.getMessage()).hasSizeLessThan(500));
	}

	@Test
	void leaseMustBePositiveAndLimited() {
		LockRequestBuilder builder = LockRequest.builder("key");
		assertThatIllegalArgumentException().isThrownBy(() -> builder.lease(Duration.ZERO).build())
			.withMessageContaining("'key'")
			.withMessageContaining("positive");
		assertThatIllegalArgumentException().isThrownBy(() -> builder.lease(Duration.ofSeconds(-1)).build());
		assertThatIllegalArgumentException().isThrownBy(() -> builder.lease(Duration.ofDays(366)).build());
		assertThat(builder.lease(Duration.ofDays(365)).build().lease()).isEqualTo(Duration.ofDays(365));
	}

	/**
	 * Each call of a locked method creates a request: a valid one must not create the
	 * messages of invalid ones.
	 */
	@Test
	void validationCreatesNoMessageForValidRequest() {
		LockSettings settings = LockSettings.defaults();
		long bytes = bytesOf(() -> settings.validate(LockRequest.builder("key").build()));
		assertThat(bytesOf(() -> settings.validate(LockRequest.builder("key")
			.lease(Duration.ofSeconds(30))
			.minHold(Duration.ofSeconds(1))
			.maxHold(Duration.ofMinutes(1))
			.build()))).isLessThan(bytes + 300);
	}

	private static long bytesOf(Runnable action) {
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		action.run();
		long before = threads.getCurrentThreadAllocatedBytes();
		for (int i = 0; i < 1000; i++) {
			action.run();
		}
		return (threads.getCurrentThreadAllocatedBytes() - before) / 1000;
	}

	@Test
	void waitTimeMustNotBeNegative() {
		LockRequestBuilder builder = LockRequest.builder("key");
		assertThatIllegalArgumentException().isThrownBy(() -> builder.waitTime(Duration.ofNanos(-1)).build())
			.withMessageContaining("negative");
		builder.waitTime(Duration.ZERO).build();
		builder.waitTime(LockRequest.FOREVER).build();
	}

	@Test
	void messagesDoNotRepeatALongKey() {
		LockBusyException ex = new LockBusyException("x".repeat(10_000), Duration.ofSeconds(1), null);
		assertThat(ex.getMessage()).hasSizeLessThan(400).contains("10000 characters").contains("1000 ms");
	}

	@Test
	void holdLimitsMustFitTogether() {
		LockRequestBuilder builder = LockRequest.builder("key").minHold(Duration.ofSeconds(2));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.maxHold(Duration.ofSeconds(1)).build())
			.withMessageContaining("'key'")
			.withMessageContaining("2000 ms")
			.withMessageContaining("1000 ms");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> builder.maxHold(Duration.ofSeconds(2)).lease(Duration.ofSeconds(3)).build())
			.withMessageContaining("lease");
		builder.lease(Duration.ofSeconds(2)).build();
		assertThatIllegalArgumentException().isThrownBy(() -> builder.minHold(Duration.ofMillis(-1)).build());
		assertThatIllegalArgumentException().isThrownBy(() -> builder.minHold(Duration.ofDays(366)).build());
		builder.minHold(Duration.ZERO).build();
		assertThatIllegalArgumentException().isThrownBy(() -> builder.maxHold(Duration.ZERO).build())
			.withMessageContaining("positive");
	}

	@Test
	void nameIsAbsentOrNotBlank() {
		assertThat(LockRequest.of("key").name()).isNull();
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.builder("key").name(" ").build());
	}

	@Test
	void withKeyKeepsAllOtherValues() {
		LockRequestBuilder builder = LockRequest.builder("other")
			.lease(Duration.ofSeconds(2))
			.waitTime(Duration.ZERO)
			.renew(false)
			.reentrant(false)
			.reason("why")
			.name("what")
			.minHold(Duration.ofSeconds(3))
			.maxHold(Duration.ofSeconds(4));
		assertThat(LockRequest.of("key")).isNotEqualTo(builder.build().withKey("key"));
		assertThat(builder.build().withKey("key").withKey("other")).isEqualTo(builder.build())
			.hasSameHashCodeAs(builder.build())
			.isNotEqualTo(builder.build().withKey("key"));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.build().withKey(" "))
			.withMessageContaining("blank");
	}

	@Test
	void modeLeavesTheMaxHold() {
		Duration maxHold = Duration.ofMinutes(1);
		LockRequest request = LockRequest.builder("key").maxHold(maxHold).build();
		assertThat(request.withMode(LockMode.SHARED).maxHold()).isEqualTo(maxHold);
		assertThat(request.withMode(LockMode.SHARED).withMode(LockMode.EXCLUSIVE).maxHold()).isEqualTo(maxHold);
	}

	/**
	 * Found by the torture bed, whose keys forged lines of the log.
	 */
	@Test
	void r57KeyCannotBreakALineOfALog() {
		assertThat(new LockBusyException("a\r\nb\u0000c\u0085d\u2028e", Duration.ZERO, null)).message()
			.contains("'a??b?c?d?e'");
	}

}
