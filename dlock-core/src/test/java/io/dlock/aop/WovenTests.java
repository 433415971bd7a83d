package io.dlock.aop;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AdviceMode;

import io.dlock.aop.call.AsyncAnnotationTests;
import io.dlock.aop.call.AsyncExampleTests;
import io.dlock.aop.call.BusyAndLostTests;
import io.dlock.aop.call.CancelledAcquisitionTests;
import io.dlock.aop.call.HoldLimitsTests;
import io.dlock.aop.call.LimitedMethodTests;
import io.dlock.aop.call.LockInTheLogTests;
import io.dlock.aop.call.PublisherCancelTests;
import io.dlock.aop.call.PublisherResultTests;
import io.dlock.aop.call.SeveralKeysAsyncTests;
import io.dlock.aop.call.SeveralKeysCallTests;
import io.dlock.aop.call.StageCancelTests;
import io.dlock.aop.call.StageResultTests;
import io.dlock.aop.call.StoreFailureTests;
import io.dlock.observation.CallObservationTests;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tests of locked methods once more, in AspectJ mode: the same behaviour. The build
 * runs them in a JVM with AspectJ's agent.
 */
@Tag("woven")
class WovenTests {

	@Test
	void wovenTestsRunInAspectJMode() {
		assertThat(PostProcessors.MODE).isEqualTo(AdviceMode.ASPECTJ);
	}

	@Nested
	class Methods extends DistributedLockedTests {

	}

	@Nested
	class Names extends LockNameTests {

	}

	@Nested
	class SeveralKeys extends SeveralKeysTests {

	}

	@Nested
	class SeveralKeysCalls extends SeveralKeysCallTests {

	}

	@Nested
	class SeveralKeysAsync extends SeveralKeysAsyncTests {

	}

	@Nested
	class BusyAndLost extends BusyAndLostTests {

	}

	@Nested
	class Limits extends HoldLimitsTests {

	}

	@Nested
	class InTheLog extends LockInTheLogTests {

	}

	@Nested
	class StoreFailures extends StoreFailureTests {

	}

	@Nested
	class AdviceOrder extends AdviceOrderTests {

	}

	@Nested
	class Stages extends StageResultTests {

	}

	@Nested
	class StageCancels extends StageCancelTests {

	}

	@Nested
	class Publishers extends PublisherResultTests {

	}

	@Nested
	class PublisherCancels extends PublisherCancelTests {

	}

	@Nested
	class AsyncMethods extends AsyncAnnotationTests {

	}

	@Nested
	class Examples extends AsyncExampleTests {

	}

	@Nested
	class Observed extends CallObservationTests {

	}

	@Nested
	class Cancelled extends CancelledAcquisitionTests {

	}

	@Nested
	class LimitedMethods extends LimitedMethodTests {

	}

}
