package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link KeptLocks} (I20).
 */
class KeptLocksTests {

	private final RunBuilder run = new RunBuilder();

	@Test
	void i20LockThatIsKeptIsLostWithoutAFault() {
		kept(5000);
		assertThat(this.run.judge().violations()).extracting(Violation::text)
			.anyMatch((text) -> text.contains("all but 0"));
	}

	@Test
	void i20LockThatIsKeptIsLostByAFaultThatIsTooShortForIt() {
		// 450 ms with the time that the store needs afterwards
		this.run.fault(3400, 3450, "F5", "node-0");
		kept(4400);
		assertThat(this.run.broken()).containsExactly(Invariant.I20);
	}

	@Test
	void i20LockThatIsKeptMayBeLostByALongFault() {
		this.run.fault(4000, 4300, "F5", "node-0");
		kept(4400);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i20LockThatIsKeptMayBeLostInAPause() {
		this.run.fault(4000, 4380, "F1", "client-0");
		kept(4400);
		assertThat(this.run.broken()).isEmpty();
	}

	private void kept(long lost) {
		this.run.attempt(0, Keys.keptKey(3), 100)
			.renewed()
			.granted(101, 1)
			.held(101, lost - 10, 1, lost)
			.then(lost, Event.LOST)
			.then(lost + 1, Event.RELEASE_SENT)
			.then(lost + 2, Event.RELEASED_LOST);
	}

}
