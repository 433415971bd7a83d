package io.dlock.store.jdbc;

import java.util.Collections;
import java.util.List;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.ReleaseResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;
import io.dlock.store.jdbc.dialect.LeaseUpdate.Holding;
import io.dlock.store.jdbc.dialect.LockAcquire;

/**
 * Acquires and releases several keys of exclusive owners with one statement. All of them
 * share its fate: a statement that fails leaves each of them without an answer.
 *
 * @param connections the connections, of a database that can do that
 */
record JdbcBatches(LockConnections connections) {

	private static final Log logger = LogFactory.getLog(JdbcBatches.class);

	static boolean isExclusive(List<ReleaseCommand> releases) {
		return releases.stream().noneMatch((release) -> LockStore.isMember(release.owner()));
	}

	List<AcquireResult> acquire(List<AcquireCommand> commands) {
		try {
			return this.connections.execute("acquire", (dialect, connection) -> LockAcquire.runAll(dialect, connection,
					commands, this.connections.commandTimeout()));
		}
		catch (StoreException ex) {
			return Collections.nCopies(commands.size(), new AcquireResult.Failed(ex));
		}
	}

	List<ReleaseResult> release(List<ReleaseCommand> releases) {
		List<Holding> holdings = releases.stream()
			.map((release) -> new Holding(StorageKey.of(release.key()), release.owner()))
			.toList();
		try {
			Set<String> released = this.connections.execute("release",
					(dialect, connection) -> dialect.release(connection, holdings));
			return holdings.stream()
				.map((holding) -> released.contains(holding.key()) ? ReleaseResult.RELEASED : ReleaseResult.REFUSED)
				.toList();
		}
		catch (StoreException ex) {
			logger.debug("The release of " + releases.size() + " locks failed", ex);
			return Collections.nCopies(releases.size(), ReleaseResult.UNKNOWN);
		}
	}

}
