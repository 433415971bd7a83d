package io.dlock.store.redis.connection;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ReturnType;

/**
 * A Lua script that is sent by its digest, and by its text when the server does not know
 * it, as after a restart, a failover or {@code SCRIPT FLUSH}.
 */
public final class RedisLockScript {

	private final int keys;

	private final byte[] text;

	private final byte[] digest;

	/**
	 * Create a script with one key.
	 * @param text its text
	 */
	public RedisLockScript(String text) {
		this(1, text);
	}

	public RedisLockScript(int keys, String text) {
		this.keys = keys;
		this.text = text.getBytes(StandardCharsets.UTF_8);
		this.digest = sha1(this.text).getBytes(StandardCharsets.US_ASCII);
	}

	/**
	 * The script, preceded by a guard script, which uses an additional key.
	 * @param guard the script that runs first, and may answer instead
	 * @return the script
	 */
	public RedisLockScript behind(String guard) {
		return new RedisLockScript(this.keys + 1, guard + new String(this.text, StandardCharsets.UTF_8));
	}

	/**
	 * A run of the script that answers a number, together with others.
	 * @param keysAndArgs the keys and the arguments
	 * @return the run
	 */
	public ScriptRun number(byte[]... keysAndArgs) {
		return new ScriptRun(this.digest, this.text, ReturnType.INTEGER, this.keys, keysAndArgs);
	}

	/**
	 * A run of the script that answers a list, together with others.
	 * @param keysAndArgs the keys and the arguments
	 * @return the run
	 */
	public ScriptRun list(byte[]... keysAndArgs) {
		return new ScriptRun(this.digest, this.text, ReturnType.MULTI, this.keys, keysAndArgs);
	}

	public List<?> list(ScriptConnection connection, byte[]... keysAndArgs) {
		return RedisAnswers.required((List<?>) run(connection, ReturnType.MULTI, keysAndArgs));
	}

	public long number(ScriptConnection connection, byte[]... keysAndArgs) {
		return RedisAnswers.required((Long) run(connection, ReturnType.INTEGER, keysAndArgs));
	}

	private @Nullable Object run(ScriptConnection connection, ReturnType returnType, byte[]... keysAndArgs) {
		try {
			return connection.run(this.digest, true, returnType, this.keys, keysAndArgs);
		}
		catch (RuntimeException ex) {
			if (!isUnknown(ex)) {
				throw ex;
			}
			return connection.run(this.text, false, returnType, this.keys, keysAndArgs);
		}
	}

	/**
	 * Run several scripts.
	 * @param connection the connection
	 * @param runs the scripts
	 * @param acknowledgement the acknowledgement that they need, or {@code null}
	 * @return the answer of each run, in the same order, or the exception of a run that
	 * failed
	 */
	static List<Object> answers(ScriptConnection connection, List<ScriptRun> runs,
			@Nullable WaitCommand acknowledgement) {
		List<Object> answers = new ArrayList<>(runAll(connection, runs, true, acknowledgement));
		List<Integer> unknown = IntStream.range(0, runs.size())
			.filter((i) -> isUnknown(answers.get(i)))
			.boxed()
			.toList();
		if (!unknown.isEmpty()) {
			// by its text each time: in a cluster any of them may be the first
			// on its node
			List<Object> repeated = runAll(connection, unknown.stream().map(runs::get).toList(), false,
					acknowledgement);
			for (int i = 0; i < unknown.size(); i++) {
				answers.set(unknown.get(i), repeated.get(i));
			}
		}
		return answers;
	}

	private static List<Object> runAll(ScriptConnection connection, List<ScriptRun> runs, boolean cached,
			@Nullable WaitCommand acknowledgement) {
		return (acknowledgement != null) ? connection.runAll(runs, cached, acknowledgement)
				: connection.runAll(runs, cached);
	}

	static boolean isUnknown(Object answer) {
		return answer instanceof RuntimeException ex && "NOSCRIPT".equals(RedisErrors.serverCode(ex));
	}

	public static byte[] bytes(String value) {
		return value.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Redis counts in milliseconds, and a lease must not be shorter than requested.
	 */
	public static byte[] millis(Duration lease) {
		long millis = lease.toMillis();
		return bytes(Long.toString((lease.compareTo(Duration.ofMillis(millis)) > 0) ? millis + 1 : millis));
	}

	private static String sha1(byte[] text) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-1", ex);
		}
	}

}
