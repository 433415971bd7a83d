package io.dlock.engine.lease;

import java.util.List;

import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

import io.dlock.LossType;
import io.dlock.engine.lease.Hold.Loss;

/**
 * All interleavings of a lease that is passed on from hold to hold while it is lost and
 * runs out, compared with {@link Model} by Lincheck.
 */
public class LeaseModelTests {

	private final OneTimeClock clock = new OneTimeClock();

	private final Lease lease = OneTimeClock.lease(this.clock);

	/** The hold of the current holder. */
	private volatile Hold current = this.lease.holder();

	/**
	 * Release, offer and claim, by one holder after the other.
	 * @return the token of the next holder, or zero if there is none
	 */
	@Operation(nonParallelGroup = "holders")
	public long passOn() {
		if (!this.current.beginRelease()) {
			return 0;
		}
		Hold next = this.lease.passTo(OneTimeClock.context(), Long.MAX_VALUE);
		if (next == null || !next.claim()) {
			return 0;
		}
		this.current = next;
		return next.token();
	}

	@Operation(nonParallelGroup = "holders")
	public boolean isValid() {
		return this.current.isValid();
	}

	@Operation
	public void lose() {
		this.lease.lose(new Loss(LossType.REFUSED, "taken away"));
	}

	@Operation(runOnce = true)
	public void timePasses() {
		this.clock.end();
	}

	@Test
	void everyInterleavingIsLinearizable() throws NoSuchMethodException {
		new ModelCheckingOptions().sequentialSpecification(Model.class)
			.threads(2)
			.actorsPerThread(2)
			.actorsBefore(1)
			.actorsAfter(2)
			.addCustomScenario(lossDuringPassOn())
			.iterations(15)
			.invocationsPerIteration(250)
			.check(LeaseModelTests.class);
	}

	/**
	 * The scenario that matters most, which random ones may leave out.
	 */
	private static ExecutionScenario lossDuringPassOn() throws NoSuchMethodException {
		return new ExecutionScenario(List.of(), List.of(List.of(actor("passOn")), List.of(actor("lose"))),
				List.of(actor("isValid")), null);
	}

	private static Actor actor(String operation) throws NoSuchMethodException {
		return new Actor(LeaseModelTests.class.getMethod(operation), List.of());
	}

	/**
	 * A lease for one thread. A lost lease is neither valid nor passed on.
	 */
	public static class Model {

		private long token = 1000L * Lease.TOKENS_PER_LEASE;

		private boolean held = true;

		private boolean over;

		public long passOn() {
			boolean passed = isValid();
			this.held = passed;
			return passed ? ++this.token : 0;
		}

		public boolean isValid() {
			return this.held && !this.over;
		}

		public void lose() {
			this.held = false;
		}

		public void timePasses() {
			this.over = true;
		}

	}

}
