package io.dlock.autoconfigure.actuate.console;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import io.dlock.LockInfo;
import io.dlock.autoconfigure.actuate.console.ConsoleDescriptor.Holder;
import io.dlock.autoconfigure.actuate.console.ConsoleDescriptor.Lock;
import io.dlock.autoconfigure.actuate.console.ConsoleDescriptor.Waiter;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockKind;
import io.dlock.engine.lease.Lease;

/**
 * The locks of the store and those of this process, key by key. Where both know a holder,
 * this process knows more of it.
 */
final class ConsoleLocks {

	static final String HELD = "held";

	static final int PAGE = 100;

	/** For the page of a key that a thousand readers hold. */
	private static final int SHOWN_OF_A_KEY = 50;

	private final String instance;

	private final UnaryOperator<String> shown;

	private final Map<String, Row> rows = new LinkedHashMap<>();

	ConsoleLocks(String instance, UnaryOperator<String> shown) {
		this.instance = instance;
		this.shown = shown;
	}

	/**
	 * Add the locks of this process.
	 * @param now the time of this machine
	 */
	void add(LocalLocks local, Instant now) {
		for (LocalLocks.Held lock : local.held()) {
			Row row = row(lock.key());
			row.kind = text(lock.kind());
			row.local.add(Lease.storeToken(lock.token()));
			row.holders.add(new Holder(this.instance + " [" + lock.thread() + "]", true, HELD, lock.name(),
					lock.reason(), Long.toString(lock.token()), seconds(lock.age()),
					seconds(Duration.between(now, lock.until()))));
		}
		for (LocalLocks.Waiting request : local.waiting()) {
			Row row = row(request.key());
			Instant until = request.until();
			row.waiters.add(new Waiter(request.thread(), text(request.kind()), request.name(), request.reason(),
					seconds(Duration.between(request.since(), now)),
					(until != null) ? seconds(Duration.between(now, until)) : null));
		}
	}

	/**
	 * Add locks of the store, after those of this process.
	 * @param listAge the age of their list
	 */
	void add(List<LockInfo> locks, Duration listAge) {
		for (LockInfo lock : locks) {
			Row row = row(lock.key());
			LockKind kind = LockKind.of(lock);
			if (row.knows(Lease.storeToken(lock.token()), kind)) {
				continue;
			}
			row.kind = text(kind);
			Duration age = lock.age();
			row.holders.add(new Holder(lock.holder(), false, lock.kept() ? "kept" : HELD, null, lock.reason(),
					Long.toString(lock.token()), seconds(age.plus(listAge)),
					seconds(Duration.between(lock.since().plus(age), lock.until()).minus(listAge))));
		}
	}

	private Row row(String key) {
		return this.rows.computeIfAbsent(key, (stored) -> new Row());
	}

	private static double seconds(Duration duration) {
		return Math.max(0, duration.toMillis() / 1000.0);
	}

	private static String text(LockKind kind) {
		return kind.name().toLowerCase(Locale.ROOT);
	}

	/**
	 * The page that a viewer wants to see.
	 * @param query the wish
	 * @param complete whether the list of the store is complete
	 * @param problem the problem of that list, or {@code null}
	 */
	ConsoleDescriptor.Locks page(ConsoleQuery query, boolean complete, @Nullable String problem) {
		List<Lock> matching = new ArrayList<>();
		this.rows.forEach((key, row) -> {
			Lock lock = row.lock(this.shown.apply(key));
			if (query.matches(lock)) {
				matching.add(lock);
			}
		});
		matching.sort(query.order());
		int pages = Math.max(1, (matching.size() + PAGE - 1) / PAGE);
		int page = Math.min(query.page(), pages);
		List<Lock> items = matching.subList((page - 1) * PAGE, Math.min(matching.size(), page * PAGE))
			.stream()
			.map(ConsoleLocks::shortened)
			.toList();
		return new ConsoleDescriptor.Locks(page, pages, matching.size(), this.rows.size(), complete, problem, items);
	}

	private static Lock shortened(Lock lock) {
		return new Lock(lock.key(), lock.kind(), lock.holders().stream().limit(SHOWN_OF_A_KEY).toList(),
				lock.holderCount(), lock.waiters().stream().limit(SHOWN_OF_A_KEY).toList(), lock.waiterCount());
	}

	/**
	 * The holders and requests of a key.
	 */
	private static final class Row {

		private final List<Holder> holders = new ArrayList<>();

		private final List<Waiter> waiters = new ArrayList<>();

		/** The leases of this process, by the token that the store has minted. */
		private final Set<Long> local = new HashSet<>();

		private @Nullable String kind;

		/**
		 * Whether a lease is one of this process, or was over before this process took
		 * the lock.
		 */
		boolean knows(long lease, LockKind kind) {
			boolean exclusive = kind == LockKind.EXCLUSIVE || text(LockKind.EXCLUSIVE).equals(this.kind);
			return this.local.contains(lease) || (exclusive && this.local.stream().anyMatch((own) -> own > lease));
		}

		Lock lock(String key) {
			this.holders.sort(Comparator.comparingDouble(Holder::heldSeconds).reversed());
			this.waiters.sort(Comparator.comparingDouble(Waiter::waitedSeconds).reversed());
			return new Lock(key, this.kind, this.holders, this.holders.size(), this.waiters, this.waiters.size());
		}

	}

}
