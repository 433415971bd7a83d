package io.dlock.engine.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.dlock.engine.TestContexts;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.Lease;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreQuarantinedException;

import static org.assertj.core.api.Assertions.assertThat;

class LocalQueuesTests {

	private static final LeaseTerms TERMS = new LeaseTerms(Duration.ofSeconds(10), true);

	private final LocalQueues queues = new LocalQueues(Duration.ofMillis(10).toNanos(), TestContexts.releaser());

	private final List<String> signals = new ArrayList<>();

	private QueuedRequest join(String key, String name) {
		return this.queues.join(TestContexts.of(key, TERMS), () -> this.signals.add(name));
	}

	@Test
	void firstComeFirstServed() {
		QueuedRequest a = join("key", "a");
		QueuedRequest b = join("key", "b");
		QueuedRequest c = join("key", "c");
		assertThat(a.isFirst()).isTrue();
		assertThat(b.isFirst()).isFalse();
		this.queues.leave(a);
		assertThat(b.isFirst()).isTrue();
		assertThat(c.isFirst()).isFalse();
		this.queues.leave(b);
		assertThat(c.isFirst()).isTrue();
		assertThat(this.signals).containsExactly("b", "c");
	}

	@Test
	void requestThatLeavesTheMiddleIsPassedOver() {
		QueuedRequest a = join("key", "a");
		QueuedRequest b = join("key", "b");
		QueuedRequest c = join("key", "c");
		this.queues.leave(b);
		this.queues.leave(a);
		assertThat(c.isFirst()).isTrue();
		assertThat(this.signals).containsExactly("c");
	}

	@Test
	void leavingTwicePassesTheFirstPlaceOnce() {
		QueuedRequest a = join("key", "a");
		QueuedRequest b = join("key", "b");
		QueuedRequest c = join("key", "c");
		this.queues.leave(a);
		this.queues.leave(a);
		assertThat(b.isFirst()).isTrue();
		assertThat(c.isFirst()).isFalse();
	}

	/**
	 * A request that is the first without an offer calls the store. A thread checks that
	 * after each wake-up, and wake-ups may be spurious.
	 */
	@Test
	void successorGetsTheOfferBeforeItIsFirst() {
		TurnedClock clock = new TurnedClock();
		QueuedRequest a = join("key", "a");
		QueuedRequest b = join("key", "b");
		Lease lease = new Lease(new Lease.Grant(a.context(), "owner", 1, clock.now(), null), clock, (hold, reason) -> {
		});
		List<Boolean> first = new ArrayList<>();
		clock.onReading = () -> first.add(b.isFirst());
		assertThat(this.queues.pass(lease.holder())).isTrue();
		clock.onReading = () -> {
		};
		assertThat(first).as("during the hand-off").isNotEmpty().containsOnly(false);
		assertThat(b.isFirst()).isTrue();
		assertThat(this.queues.claim(b)).isNotNull();
	}

	@Test
	void requestWithOthersBeforeItInTheStoreIsNotWokenByItsProcess() {
		StoreQueuePlaces places = new StoreQueuePlaces(this.queues);
		QueuedRequest a = join("key", "a");
		a.preceded();
		places.onReleased("key");
		assertThat(this.signals).isEmpty();
		a.clearLockAvailable();
		places.onReleased("key");
		assertThat(this.signals).containsExactly("a");
		assertThat(a.isLockAvailable()).isTrue();
		places.onReleased("other");
	}

	/**
	 * The release of a reader is told of after the writer behind it has been granted.
	 */
	@Test
	void releaseBeforeAGrantDoesNotHideTheHolder() {
		QueuedRequest a = join("key", "a");
		Lease lease = new Lease(new Lease.Grant(a.context(), "owner", 1, new TurnedClock().now(), null),
				new TurnedClock(), (hold, reason) -> {
				});
		this.queues.granted(a, lease.holder());
		new StoreQueuePlaces(this.queues).onReleased("key");
		assertThat(this.queues.latestAnswer(join("key", "b"))).isNotNull();
	}

	/**
	 * A method may proceed without its lock after an outage, and the store may work
	 * again.
	 */
	@Test
	void outageIsTheAnswerOfItsOwnRequestOnly() {
		QueuedRequest a = join("key", "a");
		QueuedRequest b = join("key", "b");
		QueueAnswer outage = failed(new StoreException(Effect.UNKNOWN, false, "no answer", null));
		this.queues.answer(a, outage);
		assertThat(this.queues.latestAnswer(a)).isSameAs(outage);
		assertThat(this.queues.latestAnswer(b)).isNull();
		this.queues.leave(a);
		assertThat(this.queues.latestAnswer(b)).isNull();
	}

	@Test
	void requestThatBecomesTheFirstRemembersWhyTheFormerOneWaited() {
		QueuedRequest first = join("key", "first");
		for (QueueAnswer known : List.of(QueueAnswer.refused(null, first.context()),
				failed(new StoreCongestedException("no connection", null)),
				failed(new StoreQuarantinedException(Duration.ofMinutes(1))))) {
			QueuedRequest next = join("key", "next");
			this.queues.answer(first, known);
			this.queues.leave(first);
			assertThat(this.queues.latestAnswer(next)).isSameAs(known);
			first = next;
		}
	}

	private static QueueAnswer failed(StoreException failure) {
		return QueueAnswer.failed(failure);
	}

	/**
	 * The lock may have other holders than the one of this process.
	 */
	@Test
	void refusalIsRememberedThoughThisProcessReleasesTheLock() {
		QueuedRequest first = join("key", "first");
		QueuedRequest next = join("key", "next");
		QueueAnswer refused = QueueAnswer.refused(null, first.context());
		this.queues.answer(first, refused);
		new StoreQueuePlaces(this.queues).onReleased("key");
		assertThat(this.queues.latestAnswer(first)).isSameAs(refused);
		assertThat(this.queues.latestAnswer(next)).as("has no answer yet").isNull();
	}

	@Test
	void requestThatWasToldAnAnswerKeepsIt() {
		QueuedRequest first = join("key", "first");
		QueuedRequest next = join("key", "next");
		assertThat(this.queues.stopWaiting(next)).isNull();
		QueueAnswer refused = QueueAnswer.refused(null, first.context());
		this.queues.answer(first, refused);
		new StoreQueuePlaces(this.queues).onReleased("key");
		assertThat(this.queues.latestAnswer(next)).isSameAs(refused);
	}

	@Test
	void requestThatIsGrantedHasNoPlaceInTheStoreToLeave() {
		StoreQueuePlaces places = new StoreQueuePlaces(this.queues);
		QueuedRequest a = join("key", "a");
		Lease lease = new Lease(new Lease.Grant(a.context(), "owner", 1, new TurnedClock().now(), null),
				new TurnedClock(), (hold, reason) -> {
				});
		places.set(a, MailboxAddress.create(Duration.ofMillis(50)));
		this.queues.granted(a, lease.holder());
		this.queues.leave(a);
		assertThat(a.leftStoreQueue()).isNull();
	}

	@Test
	void requestUsesThePlaceThatIsKeptForIt() {
		StoreQueuePlaces places = new StoreQueuePlaces(this.queues);
		MailboxAddress address = MailboxAddress.create(Duration.ofMillis(50));
		assertThat(places.keep("key", address, false)).isFalse();
		QueuedRequest a = join("key", "a");
		assertThat(places.keep("key", address, true)).isFalse();
		assertThat(places.of(a)).isNull();
		assertThat(places.keep("key", address, false)).isTrue();
		assertThat(places.of(a)).isEqualTo(address);
	}

	@Test
	void b18KeysShareNothing() {
		join("0", "a");
		for (int i = 1; i < 2000; i++) {
			assertThat(join(String.valueOf(i), "other").isFirst()).as("key " + i).isTrue();
		}
		assertThat(join("Aa", "a").isFirst()).isTrue();
		assertThat(join("BB", "same hash code as Aa").isFirst()).isTrue();
	}

	@Test
	void b17b19QueueExistsFromFirstRequestToLast() {
		List<QueuedRequest> held = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			held.add(join("key-" + i, "holder"));
		}
		for (int i = 0; i < 10_000; i++) {
			assertThat(join("key-" + i, "waiter").isFirst()).isFalse();
		}
		assertThat(this.queues.size()).isEqualTo(10_000);
		held.forEach(this.queues::leave);
		assertThat(this.queues.size()).isEqualTo(10_000);
	}

	@Test
	void emptyQueueIsRemoved() {
		QueuedRequest a = join("key", "a");
		QueuedRequest b = join("key", "b");
		this.queues.leave(b);
		this.queues.leave(a);
		assertThat(this.queues.size()).isZero();
	}

	@Test
	void closeSignalsAllRequests() {
		join("key", "a");
		join("key", "b");
		join("other", "c");
		this.queues.close();
		assertThat(this.signals).containsExactlyInAnyOrder("a", "b", "c");
	}

	@Test
	void releasesOfAKeyAreOverWithTheLastOne() {
		BackgroundReleases releases = new BackgroundReleases();
		Runnable first = releases.begin("key");
		Runnable second = releases.begin("key");
		second.run();
		assertThat(releases.find("key")).isNotDone();
		first.run();
		assertThat(releases.find("key")).isNull();
	}

}
