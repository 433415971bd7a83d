package io.dlock.store.redis.connection;

import java.net.ConnectException;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * The meaning of an error of Redis or its client for the command. An error that the
 * server sent is a refusal: the scripts write only after all that can be refused. Any
 * other error (a timeout, a broken connection, a decoding error) leaves the effect open.
 */
public final class RedisErrors {

	/** The server is up but cannot serve a write now; that passes or is repaired. */
	private static final Set<String> PASSING = Set.of("READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",
			"MOVED", "ASK", "BUSY", "NOREPLICAS", "OOM", "MISCONF", "NOSCRIPT", "UNBLOCKED");

	/** The server is, or has become, a replica. */
	private static final Set<String> OF_A_REPLICA = Set.of("READONLY", "MASTERDOWN");

	private static final Set<String> SERVER_ERRORS = Set.of("io.lettuce.core.RedisCommandExecutionException",
			"redis.clients.jedis.exceptions.JedisDataException", "org.redisson.client.RedisException");

	/** Exceptions of Redisson by itself, below the one for errors of the server. */
	private static final Set<String> CLIENT_ERRORS = Set.of("org.redisson.client.RedisTimeoutException",
			"org.redisson.client.RedisConnectionException");

	/** Jedis repeats a command in a cluster, and Redisson any script. */
	private static final Set<String> REPEATED = Set.of("redis.clients.jedis.exceptions.JedisClusterOperationException",
			"org.redisson.client.RedisException");

	private static final String FULL = "max number of clients";

	private static final Pattern SERVER_CODE = Pattern.compile("^-?([A-Z]{2,})(?: .*)?$", Pattern.DOTALL);

	/** Up to Redis 6.2 an error inside a script comes wrapped in another. */
	private static final Pattern CODE_IN_SCRIPT = Pattern.compile("^ERR Error running script.*: -([A-Z]{2,}) .*$",
			Pattern.DOTALL);

	/** A node of a cluster refuses a command of a script without a code of its own. */
	private static final Pattern CLUSTER_IN_SCRIPT = Pattern.compile(
			"^ERR .*script.* (non local key|slot not served|cluster is down|rehashing of the slot).*$",
			Pattern.DOTALL | Pattern.CASE_INSENSITIVE);

	private RedisErrors() {
	}

	/**
	 * The code with which an error message of the server begins.
	 * @param ex the exception of the client
	 * @return the code, or {@code null} if the server did not send an error
	 */
	public static @Nullable String serverCode(Throwable ex) {
		int depth = 0;
		for (Throwable cause = ex; cause != null && depth < 10; cause = cause.getCause()) {
			String message = cause.getMessage();
			String code = (message != null && isSentByTheServer(cause)) ? code(message) : null;
			if (code != null) {
				return code;
			}
			depth++;
		}
		return null;
	}

	/**
	 * Any other exception may begin with capitals as well, "SSL peer shut down" for one.
	 */
	private static boolean isSentByTheServer(Throwable ex) {
		return isOneOf(SERVER_ERRORS, ex) && !isOneOf(CLIENT_ERRORS, ex);
	}

	/**
	 * By name, because one of the clients may be missing.
	 */
	private static boolean isOneOf(Set<String> types, Throwable ex) {
		for (Class<?> type = ex.getClass(); type != null; type = type.getSuperclass()) {
			if (types.contains(type.getName())) {
				return true;
			}
		}
		return false;
	}

	private static @Nullable String code(String message) {
		Matcher inScript = CODE_IN_SCRIPT.matcher(message);
		if (inScript.matches()) {
			return inScript.group(1);
		}
		if (CLUSTER_IN_SCRIPT.matcher(message).matches()) {
			return "TRYAGAIN";
		}
		Matcher matcher = SERVER_CODE.matcher(message);
		return matcher.matches() ? matcher.group(1) : null;
	}

	/**
	 * Whether no connection of a pool became free. All clients use the same pool.
	 */
	static boolean isPoolExhausted(Throwable ex) {
		return root(ex) instanceof NoSuchElementException;
	}

	static boolean isOfAReplica(String code) {
		return OF_A_REPLICA.contains(code);
	}

	/**
	 * Whether the master may be another server by now. One without its replicas may be on
	 * the wrong side of a partition.
	 */
	static boolean mayBeOfAFormerMaster(String code) {
		return isOfAReplica(code) || code.equals("NOREPLICAS");
	}

	/**
	 * Whether a node of a cluster does not have the slot, or not any more.
	 */
	static boolean isRedirection(RuntimeException ex) {
		String code = serverCode(ex);
		return "MOVED".equals(code) || "ASK".equals(code);
	}

	public static StoreException translate(String operation, RuntimeException ex) {
		String code = serverCode(ex);
		if (code == null && isNeverSent(ex)) {
			return notConnected(ex);
		}
		if (code == null) {
			return new StoreException(Effect.UNKNOWN, false,
					"Redis gave no answer to " + operation + " (" + rootMessage(ex) + ")", ex);
		}
		String message = rootMessage(ex);
		return new StoreException(isRepeated(ex) ? Effect.UNKNOWN : Effect.NONE,
				!PASSING.contains(code) && !message.contains(FULL), "Redis refused " + operation + " (" + message + ")",
				ex);
	}

	static StoreException notConnected(Throwable ex) {
		String code = serverCode(ex);
		// ERR: the maximum number of clients is reached
		boolean permanent = code != null && !code.equals("ERR") && !PASSING.contains(code);
		return new StoreException(Effect.NONE, permanent, "There is no connection to Redis (" + rootMessage(ex) + ")",
				ex);
	}

	/**
	 * The client opened no connection for the command, or rejected it while its
	 * connection was down.
	 */
	private static boolean isNeverSent(Throwable ex) {
		Throwable root = root(ex);
		String message = (root.getMessage() != null) ? root.getMessage() : "";
		return (root instanceof ConnectException || isRejected(root) || message.startsWith("Failed to connect"))
				&& !isRepeated(ex);
	}

	/**
	 * The client reports the last failure, but an earlier attempt may have been sent.
	 */
	private static boolean isRepeated(@Nullable Throwable ex) {
		return ex != null && (isOneOf(REPEATED, ex) || isRepeated(ex.getCause()));
	}

	/**
	 * Whether Lettuce rejected a command while its connection was down.
	 */
	static boolean isRejected(Throwable ex) {
		return String.valueOf(ex.getMessage()).startsWith("Currently not connected");
	}

	private static Throwable root(Throwable ex) {
		Throwable root = ex;
		for (int depth = 0; root.getCause() != null && depth < 10; depth++) {
			root = root.getCause();
		}
		return root;
	}

	/**
	 * Jedis suppresses the reason why it could not connect.
	 */
	public static String rootMessage(Throwable ex) {
		Throwable root = root(ex);
		if (root.getSuppressed().length > 0) {
			root = root.getSuppressed()[0];
		}
		return (root.getMessage() != null) ? root.getMessage() : root.getClass().getSimpleName();
	}

}
