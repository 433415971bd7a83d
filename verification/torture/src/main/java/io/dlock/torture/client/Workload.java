package io.dlock.torture.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

import io.dlock.torture.Keys;

/**
 * The next action of a thread, at random.
 */
final class Workload {

	private static final Duration SHORT = Duration.ofMillis(5);

	/** So long that a call waits for longer than the machine may delay another one. */
	private static final Duration FAIR_BODY = Duration.ofMillis(100);

	/**
	 * One of so many calls for a shared key is late. The number is counted and not drawn:
	 * a brief run on a slow machine has to have some, too.
	 */
	private static final int LATE = 50;

	private static final int LONG = 4;

	private static final int LONG_LEASE = 20;

	private final ClientOptions options;

	private final int thread;

	private final SplittableRandom random;

	private final boolean renewing;

	private int sharedCalls;

	Workload(ClientOptions options, int thread, boolean renewing) {
		this.renewing = renewing;
		this.options = options;
		this.thread = thread;
		this.random = new SplittableRandom(
				options.seed() * 1_000_003 + options.client() * 10_007L + options.incarnation() * 101L + thread);
	}

	/**
	 * A lock of one key. Late work goes on after its lease, as if its process had been
	 * stopped: the resource has to reject what it writes.
	 */
	Cycle next() {
		int key = (this.random.nextInt(5) == 0) ? Keys.privateKey(this.options.client(), this.thread)
				: this.random.nextInt(this.options.keys());
		Duration lease = Keys.isPrivate(key) ? privateLease()
				: (this.random.nextInt(8) == 0) ? this.options.lease().multipliedBy(2) : this.options.lease();
		boolean late = !Keys.isPrivate(key) && ++this.sharedCalls % LATE == 0;
		boolean renew = this.random.nextInt(10) < 7 && this.renewing && !late;
		LockCall call = new LockCall(Keys.name(key), lease, waitTime(key), renew, this.random.nextInt(10) == 0);
		Duration body = late ? longerThan(lease) : body(this.options.lease());
		return new Cycle(key, call, body, this.random.nextBoolean() || late, this.random.nextBoolean(),
				this.random.nextInt(20) == 0, false, upTo(this.options.think()));
	}

	/**
	 * A try of a key that no call waits for.
	 */
	Cycle nextTry() {
		int key = Keys.polledKey(this.random.nextInt(Keys.POLLED));
		boolean renew = this.random.nextBoolean() && this.renewing;
		LockCall call = new LockCall(Keys.name(key), this.options.lease(), Duration.ZERO, renew, false);
		return new Cycle(key, call, upTo(SHORT), false, false, false, false, upTo(this.options.think()));
	}

	/**
	 * One of many requests that no thread waits for; most are for keys of their own.
	 * @param slot the number of the slot
	 * @param own whether for a key of its own
	 */
	Cycle nextFuture(int slot, boolean own) {
		int key = own ? Keys.privateKey(this.options.client(), slot) : this.random.nextInt(this.options.keys());
		Duration waitTime = this.options.lease().dividedBy(4).plus(upTo(this.options.lease().dividedBy(2)));
		boolean renew = this.random.nextBoolean() && this.renewing;
		LockCall call = new LockCall(Keys.name(key), own ? privateLease() : this.options.lease(), waitTime, renew,
				true);
		return new Cycle(key, call, upTo(SHORT), false, true, false, false, Duration.ZERO);
	}

	/**
	 * Locks of several accounts, in any order. They are renewed: the first would run out
	 * while the call waits for the last.
	 */
	List<Cycle> nextTransfer() {
		List<Integer> accounts = new ArrayList<>(IntStream.range(0, Keys.ACCOUNTS).boxed().toList());
		int size = 2 + this.random.nextInt(3);
		boolean async = this.random.nextInt(4) == 0;
		Duration waitTime = (this.random.nextInt(4) == 0) ? Duration.ZERO : this.options.waitTime();
		Duration body = body(this.options.lease());
		Duration think = upTo(this.options.think());
		List<Cycle> cycles = new ArrayList<>();
		for (int i = 0; i < size; i++) {
			int key = Keys.account(accounts.remove(this.random.nextInt(accounts.size())));
			LockCall call = new LockCall(Keys.name(key), this.options.lease(), waitTime, this.renewing, async);
			cycles.add(new Cycle(key, call, body, false, false, false, false, think));
		}
		return cycles;
	}

	/**
	 * One of several places of a key: a shared lock or a permit, and sometimes the
	 * exclusive lock that all shared ones are in the way of, half of which become shared.
	 */
	Cycle nextPlace() {
		int key = Keys.placeKey(this.random.nextInt(Keys.PLACES));
		int places = Keys.isLimit(key) ? 2 + this.random.nextInt(2)
				: (this.random.nextInt(5) == 0) ? 1 : LockCall.SHARED;
		boolean downgraded = places == 1 && this.random.nextBoolean();
		boolean renew = this.random.nextInt(10) < 7 && this.renewing;
		LockCall call = new LockCall(Keys.name(key), this.options.lease(), waitTime(key), renew,
				this.random.nextInt(5) == 0, places, false);
		return new Cycle(key, call, body(this.options.lease()), this.random.nextBoolean(), this.random.nextBoolean(),
				false, downgraded, upTo(this.options.think()));
	}

	/**
	 * A lock that is given in the order of the calls, which all wait as long.
	 */
	Cycle nextFair() {
		LockCall call = new LockCall(Keys.name(Keys.FAIR), this.options.lease(), this.options.waitTime(), this.renewing,
				false, 1, true);
		return new Cycle(Keys.FAIR, call, upTo(FAIR_BODY), false, false, false, false, upTo(this.options.think()));
	}

	/**
	 * An amount of money.
	 */
	long nextAmount() {
		return this.random.nextLong(1, 100);
	}

	/**
	 * Some leases of a key of its own are so long that a lock which was granted
	 * unnoticed, and is not given back, is seen.
	 */
	private Duration privateLease() {
		return (this.options.longLeases() && this.random.nextInt(LONG) == 0)
				? this.options.lease().multipliedBy(LONG_LEASE) : this.options.lease();
	}

	/**
	 * Whether to release several locks at once.
	 */
	boolean isTogether() {
		return this.random.nextBoolean();
	}

	private Duration waitTime(int key) {
		if (Keys.isPrivate(key)) {
			return this.options.waitTime();
		}
		return switch (this.random.nextInt(6)) {
			case 0 -> Duration.ZERO;
			case 1, 2 -> this.options.waitTime().dividedBy(4);
			default -> this.options.waitTime();
		};
	}

	/**
	 * Most are short; one in a hundred is longer than its lease.
	 */
	private Duration body(Duration lease) {
		int kind = this.random.nextInt(100);
		if (kind < 60) {
			return upTo(SHORT);
		}
		if (kind < 95) {
			return upTo(Duration.ofMillis(30));
		}
		if (kind < 99) {
			return upTo(lease.dividedBy(3));
		}
		return longerThan(lease);
	}

	private Duration longerThan(Duration lease) {
		return lease.plus(upTo(lease));
	}

	private Duration upTo(Duration most) {
		return Duration.ofNanos(this.random.nextLong(most.toNanos() + 1));
	}

	/**
	 * A lock, from the call to its release.
	 *
	 * @param key the number of the key
	 * @param call the call
	 * @param body how long to work under the lock
	 * @param careless whether to go on working when the lock is lost
	 * @param silent whether not to ask for the lock when it may be lost: a question finds
	 * a loss by itself, and would hide that the listener is not told
	 * @param nested whether to acquire it again meanwhile
	 * @param downgraded whether to turn it into a shared lock, and to work under that
	 * @param think how long to pause afterwards
	 */
	record Cycle(int key, LockCall call, Duration body, boolean careless, boolean silent, boolean nested,
			boolean downgraded, Duration think) {

		/**
		 * The rest of the cycle, under the shared lock.
		 */
		Cycle shared() {
			return new Cycle(this.key, this.call.downgrade(), this.body, this.careless, this.silent, false, false,
					this.think);
		}

	}

}
