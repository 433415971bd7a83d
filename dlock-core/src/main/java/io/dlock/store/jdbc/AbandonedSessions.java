package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.jdbc.ConnectionSlots.Slot;
import io.dlock.store.jdbc.dialect.LockDialect;
import io.dlock.store.jdbc.dialect.SqlErrors;

/**
 * Ends the sessions of connections that were dropped without an answer: the database may
 * continue to execute in them, for as long as a commit takes, even after the client has
 * disconnected. Each session keeps its slot until the database confirms its end, so that
 * a slow database is not flooded with sessions. Drivers can cancel a statement, but do
 * not report whether the session still exists.
 */
final class AbandonedSessions implements Runnable, AutoCloseable {

	private static final Log logger = LogFactory.getLog(AbandonedSessions.class);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(10);

	/**
	 * An attempt without an answer leaves a session behind, so that attempts are rare. A
	 * connection that breaks at once is no silence: its session ends with it.
	 */
	private static final int SILENCE_GROWTH = 4;

	/** Upper bound on the delay before locks recover after the database is back. */
	private static final Duration LONGEST_SILENCE = Duration.ofSeconds(30);

	/** The server's name for the session of a connection; empty if it cannot tell. */
	private final Map<Connection, String> known = Collections.synchronizedMap(new WeakHashMap<>());

	private final UnaryOperator<Collection<String>> server;

	private final Duration longestPause;

	private final Duration timeout;

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<String, Slot> abandoned = new HashMap<>();

	private @Nullable Thread thread;

	private boolean closed;

	/**
	 * Create an empty set.
	 * @param server ends sessions, on a connection of its own, and returns the sessions
	 * that still exist
	 * @param longestPause the longest wait before the server is asked again
	 * @param timeout how long an attempt takes at least that waits for an answer in vain
	 */
	AbandonedSessions(UnaryOperator<Collection<String>> server, Duration longestPause, Duration timeout) {
		this.server = server;
		this.longestPause = longestPause;
		this.timeout = timeout;
	}

	/**
	 * The server's name for the session of a connection, which is queried once.
	 * @param connection a connection of the store's own pool
	 * @return the session, empty if the server cannot tell
	 * @throws SQLException if there is no answer
	 */
	String identify(LockDialect dialect, Connection connection) throws SQLException {
		Connection physical = connection.unwrap(Connection.class);
		String session = this.known.get(physical);
		if (session == null) {
			session = ask(dialect, connection);
			this.known.put(physical, session);
		}
		return session;
	}

	/**
	 * Locks do not depend on the right of the user to see sessions.
	 */
	private static String ask(LockDialect dialect, Connection connection) throws SQLException {
		try {
			return dialect.session(connection);
		}
		catch (SQLException ex) {
			if (!SqlErrors.isPermanent(ex)) {
				throw ex;
			}
			logger.debug("The database does not tell which session a connection has", ex);
			return "";
		}
	}

	/**
	 * End a session in the background.
	 * @param slot the slot that the session keeps as long as it exists
	 */
	void add(String session, Slot slot) {
		if (session.isEmpty()) {
			return;
		}
		this.lock.lock();
		try {
			if (this.closed) {
				return;
			}
			if (this.thread == null) {
				this.thread = start();
			}
			slot.keep();
			this.abandoned.put(session, slot);
		}
		catch (OutOfMemoryError ex) {
			// without a thread the slot would never come back
			logger.debug("No thread could be started", ex);
		}
		finally {
			this.lock.unlock();
		}
	}

	private Thread start() {
		Thread starting = new Thread(null, this, "dlock-sessions", 0, false);
		starting.setDaemon(true);
		starting.start();
		return starting;
	}

	@Override
	public void run() {
		Duration pause = FIRST_PAUSE;
		Duration silence = this.longestPause;
		for (List<String> sessions = next(); !sessions.isEmpty(); sessions = next()) {
			Result result = end(sessions);
			if (result == Result.NO_ANSWER) {
				LockSupport.parkNanos(this, silence.toNanos());
				silence = longer(silence, SILENCE_GROWTH, LONGEST_SILENCE);
				continue;
			}
			silence = this.longestPause;
			if (result == Result.ALL_GONE) {
				pause = FIRST_PAUSE;
				continue;
			}
			LockSupport.parkNanos(this, pause.toNanos());
			pause = longer(pause, 2, this.longestPause);
		}
	}

	private static Duration longer(Duration pause, int factor, Duration longest) {
		Duration longer = pause.multipliedBy(factor);
		return (longer.compareTo(longest) < 0) ? longer : longest;
	}

	/**
	 * The sessions to end.
	 * @return none if the thread is to end
	 */
	private List<String> next() {
		this.lock.lock();
		try {
			if (this.closed || this.abandoned.isEmpty()) {
				this.thread = null;
				return List.of();
			}
			return List.copyOf(this.abandoned.keySet());
		}
		finally {
			this.lock.unlock();
		}
	}

	private Result end(List<String> sessions) {
		long begin = System.nanoTime();
		try {
			Collection<String> left = this.server.apply(sessions);
			sessions.stream().filter((session) -> !left.contains(session)).forEach(this::gone);
			return left.isEmpty() ? Result.ALL_GONE : Result.SOME_LEFT;
		}
		catch (StoreException ex) {
			logger.debug("Could not end " + sessions.size() + " abandoned sessions", ex);
			if (ex.isPermanent()) {
				// their end can never be confirmed
				sessions.forEach(this::gone);
			}
			boolean silent = System.nanoTime() - begin >= this.timeout.toNanos();
			return (ex.effect() == Effect.UNKNOWN && silent) ? Result.NO_ANSWER : Result.SOME_LEFT;
		}
		catch (RuntimeException | Error ex) {
			logger.warn("Could not end abandoned sessions", ex);
			return Result.SOME_LEFT;
		}
	}

	private void gone(String session) {
		this.lock.lock();
		try {
			Slot slot = this.abandoned.remove(session);
			if (slot != null) {
				slot.giveBack();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
			LockSupport.unpark(this.thread);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * The result of an attempt to end sessions.
	 */
	private enum Result {

		/** None of the sessions exists any more. */
		ALL_GONE,

		/** Some sessions still exist, or there was no connection to ask. */
		SOME_LEFT,

		/** The session that ends the others was abandoned itself. */
		NO_ANSWER

	}

}
