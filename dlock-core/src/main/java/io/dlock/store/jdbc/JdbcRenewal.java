package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.store.LockStore;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.jdbc.dialect.LeaseUpdate;
import io.dlock.store.jdbc.dialect.LeaseUpdate.Holding;
import io.dlock.store.jdbc.dialect.LockDialect;
import io.dlock.store.jdbc.dialect.LockMembers;
import io.dlock.store.jdbc.dialect.SqlErrors;

/**
 * One renewal of many leases, each of which gets an answer of its own. Leases are renewed
 * many at a time and in the order of their keys. A row that another session has locked is
 * skipped and awaited at the end, so that it delays no other renewal.
 */
final class JdbcRenewal implements LockConnections.Work<Boolean> {

	private static final Log logger = LogFactory.getLog(JdbcRenewal.class);

	private final List<Holding> holdings;

	private final SortedMap<Holding, LeaseUpdate> unanswered = new TreeMap<>(
			Comparator.comparing(Holding::key).thenComparing(Holding::owner));

	private final Map<Holding, RenewResult> answers = new HashMap<>();

	private final long started = System.nanoTime();

	private final long limit;

	JdbcRenewal(List<RenewCommand> leases, Duration limit) {
		this.limit = limit.toNanos();
		this.holdings = leases.stream().map((lease) -> new Holding(StorageKey.of(lease.key()), lease.owner())).toList();
		for (int i = 0; i < leases.size(); i++) {
			LeaseUpdate due = LeaseUpdate.of(this.holdings.get(i), leases.get(i).lease());
			this.unanswered.merge(due.holding(), due, (one, other) -> (one.micros() >= other.micros()) ? one : other);
		}
	}

	/**
	 * Renew the leases without an answer. The limit does not interrupt a statement.
	 */
	@Override
	public Boolean run(LockDialect dialect, Connection connection) throws SQLException {
		renewTogether(dialect, connection);
		renewMembers(dialect, connection);
		while (!this.unanswered.isEmpty() && !isOver()) {
			renewFirst(dialect, connection);
			// the other rows may be free by now, and must not wait for the next one
			renewTogether(dialect, connection);
		}
		return this.unanswered.isEmpty();
	}

	/**
	 * In another order with each call: one row that another session has locked takes most
	 * of the time, so that two would keep the members behind them from every renewal.
	 */
	private void renewMembers(LockDialect dialect, Connection connection) throws SQLException {
		List<LeaseUpdate> members = new ArrayList<>(this.unanswered.values());
		members.removeIf((lease) -> !isMember(lease));
		Collections.shuffle(members);
		for (LeaseUpdate lease : members) {
			if (!isOver()) {
				renewMember(dialect, connection, lease);
			}
			else if (this.answers.containsValue(RenewResult.RENEWED)) {
				answer(lease.holding(), RenewResult.NOT_SENT);
			}
		}
	}

	private void renewMember(LockDialect dialect, Connection connection, LeaseUpdate lease) throws SQLException {
		Duration left = Duration.ofNanos(this.limit - (System.nanoTime() - this.started));
		try {
			boolean renewed = new LockMembers(dialect, connection, left).renew(lease);
			answer(lease.holding(), renewed ? RenewResult.RENEWED : RenewResult.REFUSED);
		}
		catch (StoreCongestedException ex) {
			unanswered(lease, ex);
		}
		catch (SQLException ex) {
			if (!SqlErrors.isSlowOrBlocked(ex)) {
				throw ex;
			}
			unanswered(lease, ex);
		}
	}

	private void unanswered(LeaseUpdate lease, Exception ex) {
		logger.debug("Another session blocks the renewal of lock '" + lease.key() + "'", ex);
		answer(lease.holding(), RenewResult.UNKNOWN);
	}

	private static boolean isMember(LeaseUpdate lease) {
		return LockStore.isMember(lease.owner());
	}

	private boolean isOver() {
		return System.nanoTime() - this.started > this.limit;
	}

	private void renewTogether(LockDialect dialect, Connection connection) throws SQLException {
		List<LeaseUpdate> due = this.unanswered.values().stream().filter((lease) -> !isMember(lease)).toList();
		int atOnce = dialect.renewalsAtOnce();
		int from = 0;
		while (from < due.size() && !isOver()) {
			List<LeaseUpdate> next = due.subList(from, Math.min(from + atOnce, due.size()));
			try {
				dialect.renew(connection, next, this::answer);
				from += next.size();
			}
			catch (SQLException ex) {
				if (!SqlErrors.isSlowOrBlocked(ex) || isOver()) {
					throw ex;
				}
				logger.debug("The database rolled back the renewal of " + next.size() + " locks", ex);
				from += (next.size() == 1) ? 1 : 0;
				atOnce = Math.max(1, next.size() / 10);
			}
		}
	}

	private void renewFirst(LockDialect dialect, Connection connection) throws SQLException {
		LeaseUpdate first = this.unanswered.values().iterator().next();
		try {
			boolean renewed = dialect.renew(connection, first);
			answer(first.holding(), renewed ? RenewResult.RENEWED : RenewResult.REFUSED);
		}
		catch (SQLException ex) {
			if (!SqlErrors.isSlowOrBlocked(ex)) {
				throw ex;
			}
			unanswered(first, ex);
		}
	}

	private void answer(Holding holding, RenewResult result) {
		this.answers.put(holding, result);
		this.unanswered.remove(holding);
	}

	/**
	 * The results so far.
	 * @return one for each lease, in the order of the leases
	 */
	List<RenewResult> results() {
		return this.holdings.stream()
			.map((holding) -> this.answers.getOrDefault(holding, RenewResult.UNKNOWN))
			.toList();
	}

}
