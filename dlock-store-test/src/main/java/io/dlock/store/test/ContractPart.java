package io.dlock.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreInspection;
import io.dlock.store.WaitingQueue;
import io.dlock.store.StoredLock;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A part of the contract, with the commands that its tests send to the store.
 */
abstract class ContractPart {

	/** Does not run out in a test. */
	static final Duration LEASE = Duration.ofSeconds(60);

	/** Less than {@link #LEASE}, and more than a busy machine takes. */
	static final Duration LONG = Duration.ofSeconds(10);

	/** Longer than a contender is overtaken, also on a busy machine. */
	private static final Duration STARVED = LEASE.multipliedBy(4);

	private static final int FEW = 3;

	/** More than any store of dlock queues. */
	private static final int MANY = 11_000;

	static final String REASON = "because ä 🔒 '; --";

	private final LockStoreContract contract;

	private final Set<Feature> required;

	ContractPart(LockStoreContract contract, Feature... required) {
		this.contract = contract;
		this.required = Set.of(required);
	}

	@BeforeEach
	void requireFeatures() {
		this.required.forEach(this::require);
	}

	final LockStoreContract contract() {
		return this.contract;
	}

	final LockStore store() {
		return this.contract.store();
	}

	final String key() {
		return this.contract.key();
	}

	/** Runs out in a test. */
	final Duration shortLease() {
		return this.contract.shortLease();
	}

	final boolean has(Feature feature) {
		return this.contract.features().contains(feature);
	}

	final void require(Feature feature) {
		assumeTrue(has(feature), () -> "The store has no feature " + feature);
	}

	/**
	 * Wait with a limit that a busy machine does not reach.
	 */
	static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(10));
	}

	/**
	 * Repeat steps, each time with another key, in which a lease or a reservation is
	 * needed before it is over. It may be over only if the steps took so long, as they do
	 * on a busy machine.
	 * @param limit the lease or the reservation
	 * @param steps the steps; {@code false} if it was over
	 */
	final void untilInTime(Duration limit, Callable<Boolean> steps) {
		await().until(() -> {
			this.contract.changeKey();
			long begin = System.nanoTime();
			boolean inTime;
			try {
				inTime = steps.call();
			}
			catch (StoreCongestedException ex) {
				inTime = false;
			}
			if (!inTime) {
				assertOver(limit, begin);
			}
			return inTime;
		});
	}

	/**
	 * A lease or a reservation that is over has to have had its time.
	 * @param limit the lease or the reservation
	 * @param begin when it began at the earliest, by {@link System#nanoTime()}
	 */
	static void assertOver(Duration limit, long begin) {
		assertThat(Duration.ofNanos(System.nanoTime() - begin)).as("over after").isGreaterThanOrEqualTo(limit);
	}

	final AcquireResult acquire(String owner, Duration lease) {
		return acquire(key(), owner, lease);
	}

	final AcquireResult acquire(String key, String owner, Duration lease) {
		return acquire(store(), key, owner, lease);
	}

	static AcquireResult acquire(LockStore store, String key, String owner, Duration lease) {
		return store.acquire(new AcquireCommand(key, owner, lease, "holder " + owner, REASON));
	}

	/**
	 * Acquire a key that others ask for at the same time. A store may say that it saw no
	 * holder and was overtaken, or that it was too slow.
	 */
	final AcquireResult attempt(String key, String owner, Duration lease) {
		return attempt(store(), key, owner, lease);
	}

	private static AcquireResult attempt(LockStore store, String key, String owner, Duration lease) {
		try {
			return acquire(store, key, owner, lease);
		}
		catch (StoreCongestedException ex) {
			return new AcquireResult.Failed(ex);
		}
	}

	/**
	 * Acquire the key, or join its queue with that address.
	 */
	final AcquireResult ask(String owner, @Nullable MailboxAddress mailbox) {
		return ask(owner, mailbox, null);
	}

	final AcquireResult ask(String owner, @Nullable MailboxAddress mailbox, @Nullable String releasing) {
		return ask(key(), owner, mailbox, mailbox != null, releasing);
	}

	final AcquireResult ask(String key, String owner, @Nullable MailboxAddress mailbox, boolean queueing,
			@Nullable String releasing) {
		return store()
			.acquire(new AcquireCommand(key, owner, LEASE, "holder " + owner, REASON, mailbox, queueing, releasing));
	}

	/**
	 * Fill the queue of the key.
	 * @param join joins the queue with an address
	 * @return the addresses that are queued, in their order
	 */
	final List<MailboxAddress> fillQueue(Function<MailboxAddress, AcquireResult> join) throws Exception {
		List<MailboxAddress> queued = new ArrayList<>();
		MailboxAddress next = MailboxAddress.create(LONG);
		for (int place = place(join, next); place >= 0; place = place(join, next)) {
			assertThat(place).as("each has a place of its own").isEqualTo(queued.size());
			queued.add(next);
			if (queued.size() == FEW) {
				queued.addAll(queueMore(queued));
			}
			assumeTrue(queued.size() < MANY, "The queue is longer");
			next = MailboxAddress.create(LONG);
		}
		assumeTrue(!queued.isEmpty(), "The store tells no place");
		return queued;
	}

	/**
	 * Leave only a few places, if the store lets the queue be replaced.
	 * @return the addresses that are queued behind the others
	 */
	private List<MailboxAddress> queueMore(List<MailboxAddress> queued) throws Exception {
		List<MailboxAddress> more = new ArrayList<>();
		StringBuilder text = new StringBuilder();
		queued.forEach((mailbox) -> text.append(WaitingQueue.entry(mailbox, false)));
		int left = FEW * WaitingQueue.entry(queued.get(0), false).length();
		while (text.length() < WaitingQueue.FULL - left) {
			more.add(MailboxAddress.create(LONG));
			text.append(WaitingQueue.entry(more.get(more.size() - 1), false));
		}
		return contract().replaceQueue(new WaitingQueue(text.toString())) ? more : List.of();
	}

	private static int place(Function<MailboxAddress, AcquireResult> join, MailboxAddress mailbox) {
		return refused(join.apply(mailbox)).place();
	}

	final StoreInspection inspection() {
		return Objects.requireNonNull(store().inspection());
	}

	final boolean release(String owner) {
		return store().release(key(), owner);
	}

	final RenewResult renew(String owner, Duration lease) {
		return store().renew(List.of(renewal(owner, lease))).get(0);
	}

	final RenewCommand renewal(String owner, Duration lease) {
		return new RenewCommand(key(), owner, lease);
	}

	final Optional<StoredLock> find() {
		return store().find(key());
	}

	/**
	 * The rest of the lease that another owner has.
	 */
	final Duration remaining() {
		return remaining(key());
	}

	final Duration remaining(String key) {
		return refused(acquire(key, "a stranger", LEASE)).remaining();
	}

	/**
	 * Make the calls in several threads.
	 * @return the results in the order of the calls
	 */
	static <T> List<T> inThreads(int count, List<Callable<T>> calls) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(count);
		try {
			List<T> results = new ArrayList<>();
			for (Future<T> result : threads.invokeAll(calls)) {
				results.add(result.get());
			}
			return results;
		}
		finally {
			threads.shutdownNow();
		}
	}

	static long granted(AcquireResult result) {
		assertThat(result).isInstanceOf(Granted.class);
		return ((Granted) result).token();
	}

	static Refused refused(AcquireResult result) {
		assertThat(result).isInstanceOf(Refused.class);
		return (Refused) result;
	}

	/**
	 * A deliberately unprotected counter, as ShedLock's fuzz test has it: a lock that
	 * does not exclude loses counts.
	 */
	final class Counter {

		private final int each;

		private final List<Long> tokens = new ArrayList<>();

		private int value;

		Counter(int each) {
			this.each = each;
		}

		@Nullable Void count(LockStore store, String prefix) {
			for (int i = 0; i < this.each; i++) {
				countOnce(store, prefix + i);
			}
			return null;
		}

		private void countOnce(LockStore store, String owner) {
			long begin = System.nanoTime();
			AcquireResult result = attempt(store, key(), owner, LEASE);
			while (!(result instanceof Granted)) {
				assertThat(Duration.ofNanos(System.nanoTime() - begin)).as("without the lock of contenders: %s", result)
					.isLessThan(STARVED);
				Thread.onSpinWait();
				result = attempt(store, key(), owner, LEASE);
			}
			int read = this.value;
			Thread.onSpinWait();
			this.value = read + 1;
			this.tokens.add(granted(result));
			assertThat(store.release(key(), owner)).isTrue();
		}

		void assertCounted(int threads) {
			assertThat(this.value).isEqualTo(threads * this.each);
			assertThat(this.tokens).hasSize(threads * this.each).isSorted().doesNotHaveDuplicates();
		}

	}

}
