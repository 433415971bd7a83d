package io.dlock.store.redis;

/**
 * A script with one key and its arguments, to be run together with others.
 */
final class ScriptRun {

	private final byte[] digest;

	private final byte[] text;

	private final byte[][] keyAndArgs;

	ScriptRun(byte[] digest, byte[] text, byte[]... keyAndArgs) {
		this.digest = digest;
		this.text = text;
		this.keyAndArgs = keyAndArgs;
	}

	/**
	 * The script as it is sent.
	 * @param cached whether the server knows it
	 * @return its digest or its text
	 */
	byte[] script(boolean cached) {
		return cached ? this.digest : this.text;
	}

	byte[][] keyAndArgs() {
		return this.keyAndArgs;
	}

}
