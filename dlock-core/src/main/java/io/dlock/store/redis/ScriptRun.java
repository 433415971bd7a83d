package io.dlock.store.redis;

/**
 * A script with one key and its arguments, to be run together with others.
 */
final class ScriptRun {

	private final RedisLockScript script;

	private final byte[][] keyAndArgs;

	ScriptRun(RedisLockScript script, byte[]... keyAndArgs) {
		this.script = script;
		this.keyAndArgs = keyAndArgs;
	}

	/**
	 * The script as it is sent.
	 * @param cached whether the server knows it
	 * @return its digest or its text
	 */
	byte[] script(boolean cached) {
		return cached ? this.script.digest() : this.script.text();
	}

	byte[][] keyAndArgs() {
		return this.keyAndArgs;
	}

}
