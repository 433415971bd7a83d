package io.dlock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockInterruptedException;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.LossType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A key or a reason may be user input, which must not write lines into a log.
 */
class LogTextsTests extends AbstractLeaseLockRegistryTests {

	private static final String TYPED = "order\r\nINFO all is well\u2028\u0085\t\u001b[31m";

	@Test
	void r57TextsOfLocksAreOneLine() {
		LockRequest request = LockRequest.builder(TYPED).reason(TYPED).name(TYPED).build();
		Queue<LockEvent> events = new ConcurrentLinkedQueue<>();
		this.registry.addListener(events::add);
		try (LockHandle handle = this.registry.acquire(request)) {
			assertPrintable(handle.toString());
			this.registry.find(TYPED).ifPresent((info) -> assertPrintable(info.toString()));
		}
		assertPrintable(request.toString());
		assertPrintable(this.registry.lock(request).toString());
		assertThatExceptionOfType(IllegalMonitorStateException.class)
			.isThrownBy(() -> this.registry.lock(request).unlock())
			.satisfies((ex) -> assertPrintable(ex.getMessage()));
		Awaitility.await().until(() -> events.size() == 2);
		events.forEach((event) -> assertPrintable(event.toString()));
	}

	@Test
	void r57TextsOfMisuseAreOneLine() {
		LockHandle shared = this.registry.acquire(LockRequest.builder(TYPED).build().withMode(LockMode.SHARED));
		assertThatIllegalStateException().isThrownBy(shared::downgrade)
			.satisfies((ex) -> assertPrintable(ex.getMessage()));
		shared.release();
		assertThatIllegalStateException().isThrownBy(shared::assertHeld)
			.satisfies((ex) -> assertPrintable(ex.getMessage()));
		assertThatIllegalStateException().isThrownBy(shared::downgrade)
			.satisfies((ex) -> assertPrintable(ex.getMessage()));
	}

	@Test
	void r57TextsOfOutcomesAreOneLine() {
		Instant now = Instant.now();
		Duration time = Duration.ofSeconds(1);
		LockStoreException failure = new LockStoreException(TYPED, "acquire", "Nothing is known",
				new IllegalStateException("The store said " + TYPED));
		LockInfo holder = new LockInfo(TYPED, TYPED, TYPED, now, now, 1, time, true, false);
		List.of(holder, new LockBusyException(TYPED, time, holder), new LockInterruptedException(TYPED, null),
				new LockLostException(TYPED, 1, TYPED), new LockRegistryClosedException(TYPED), failure,
				new LockEvent.Acquired(TYPED, TYPED, TYPED, 1, time),
				new LockEvent.Busy(TYPED, TYPED, TYPED, time, holder),
				new LockEvent.StoreFailed(TYPED, TYPED, TYPED, time, failure, true),
				new LockEvent.Renewed(TYPED, TYPED, TYPED, 1, time, time),
				new LockEvent.RenewalFailed(TYPED, TYPED, TYPED, 1, time, time),
				new LockEvent.Released(TYPED, TYPED, TYPED, 1, time, time),
				new LockEvent.Lost(TYPED, TYPED, TYPED, 1, time, TYPED, LossType.FORCED))
			.forEach((text) -> assertPrintable(text.toString()));
		assertThat(failure.key()).as("the key itself").isEqualTo(TYPED);
	}

	private static void assertPrintable(String text) {
		assertThat(text).contains("order").doesNotContainPattern("[\\p{Cntrl}\\u0085\\u2028\\u2029]");
	}

}
