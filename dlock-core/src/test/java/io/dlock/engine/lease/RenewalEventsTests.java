package io.dlock.engine.lease;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.dlock.LossType;
import io.dlock.engine.TestContexts;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.store.RenewResult;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The events of a call that renews several leases.
 */
class RenewalEventsTests {

	private final TurnedClock clock = new TurnedClock();

	private final EngineThreads threads = new EngineThreads();

	private final LockEvents events = new LockEvents(this.threads);

	private final Queue<String> told = new ConcurrentLinkedQueue<>();

	@BeforeEach
	void listen() {
		this.events.add((event) -> this.told.add(event.getClass().getSimpleName() + " " + event.key()));
	}

	@AfterEach
	void endThreads() {
		this.threads.close();
	}

	private static AcquireContext context(String key) {
		return TestContexts.of(key, new LeaseTerms(Duration.ofSeconds(10), true));
	}

	private static void ignore(Hold hold, Loss loss) {
	}

	private SharedLease lease(String key) {
		return new SharedLease(new Lease.Grant(context(key), "+owner", 1000, this.clock.now(), null), this.clock,
				RenewalEventsTests::ignore);
	}

	private HoldDetails details(Hold hold) {
		HoldDetails details = new HoldDetails(hold.context().request(), null, this.clock);
		hold.details(details);
		return details;
	}

	private SharedLease announced(String key) {
		SharedLease lease = lease(key);
		details(lease.holder()).announced();
		return lease;
	}

	private void renewed(List<Lease> leases, RenewResult... results) {
		this.events.renewed(leases, List.of(results));
		this.threads.awaitEvents(Patience.EVENTUALLY);
	}

	@Test
	void eachLeaseHasItsOwnResult() {
		renewed(List.of(announced("a"), announced("b"), announced("c"), announced("d")), RenewResult.RENEWED,
				RenewResult.UNKNOWN, RenewResult.NOT_SENT, RenewResult.REFUSED);
		assertThat(this.told).containsExactly("Renewed a", "RenewalFailed b");
	}

	@Test
	void eachReaderOfALeaseHasAnEvent() {
		SharedLease lease = announced("a");
		Hold second = lease.join(context("a"));
		assertThat(second).isNotNull();
		details(second).announced();
		renewed(List.of(lease), RenewResult.RENEWED);
		assertThat(this.told).containsExactly("Renewed a", "Renewed a");
	}

	@Test
	void renewalOfALockThatIsNotAnnouncedOrIsLostHasNoEvent() {
		SharedLease early = lease("early");
		details(early.holder());
		Lease lost = new Lease(new Lease.Grant(context("lost"), "owner", 1000, this.clock.now(), null), this.clock,
				RenewalEventsTests::ignore);
		details(lost.holder()).announced();
		lost.holder().lose(new Loss(LossType.MAX_HOLD, "it was held for too long"));
		renewed(List.of(early, lost, lease("without details")), RenewResult.RENEWED, RenewResult.RENEWED,
				RenewResult.RENEWED);
		assertThat(this.told).isEmpty();
	}

}
