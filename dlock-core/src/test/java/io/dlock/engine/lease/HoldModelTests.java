package io.dlock.engine.lease;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

import io.dlock.LossType;
import io.dlock.engine.lease.Hold.Loss;

/**
 * All interleavings of the operations of threads on one hold, compared with {@link Model}
 * by Lincheck.
 */
public class HoldModelTests {

	private final OneTimeClock clock = new OneTimeClock();

	private final Hold hold = OneTimeClock.lease(this.clock).holder();

	@Operation
	public boolean retain() {
		return this.hold.retain();
	}

	@Operation
	public boolean lose() {
		return this.hold.lose(new Loss(LossType.REFUSED, "taken away"));
	}

	@Operation
	public boolean beginRelease() {
		return this.hold.beginRelease();
	}

	@Operation
	public boolean isValid() {
		return this.hold.isValid();
	}

	@Operation
	public boolean isLost() {
		return this.hold.isLost();
	}

	@Operation(runOnce = true)
	public void timePasses() {
		this.clock.end();
	}

	@Test
	void everyInterleavingIsLinearizable() {
		new ModelCheckingOptions().sequentialSpecification(Model.class)
			.threads(3)
			.actorsPerThread(2)
			.actorsBefore(1)
			.actorsAfter(2)
			.iterations(15)
			.invocationsPerIteration(200)
			.check(HoldModelTests.class);
	}

	/**
	 * A hold for one thread.
	 */
	public static class Model {

		private String state = "held";

		private boolean over;

		public boolean retain() {
			return isValid();
		}

		public boolean lose() {
			boolean held = this.state.equals("held");
			this.state = held ? "lost" : this.state;
			return held;
		}

		public boolean beginRelease() {
			boolean valid = isValid();
			this.state = valid ? "released" : this.state;
			return valid;
		}

		public boolean isValid() {
			if (this.over) {
				lose();
			}
			return this.state.equals("held");
		}

		public boolean isLost() {
			isValid();
			return this.state.equals("lost");
		}

		public void timePasses() {
			this.over = true;
		}

	}

}
