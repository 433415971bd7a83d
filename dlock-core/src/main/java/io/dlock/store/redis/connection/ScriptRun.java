package io.dlock.store.redis.connection;

import org.springframework.data.redis.connection.ReturnType;

/**
 * A script with its keys and arguments, to be run together with others.
 */
public final class ScriptRun {

	private final byte[] digest;

	private final byte[] text;

	private final ReturnType returnType;

	private final int keys;

	private final byte[][] keysAndArgs;

	ScriptRun(byte[] digest, byte[] text, ReturnType returnType, int keys, byte[]... keysAndArgs) {
		this.digest = digest;
		this.text = text;
		this.returnType = returnType;
		this.keys = keys;
		this.keysAndArgs = keysAndArgs;
	}

	/**
	 * The script as it is sent.
	 * @param cached whether the server knows it
	 * @return its digest or its text
	 */
	public byte[] script(boolean cached) {
		return cached ? this.digest : this.text;
	}

	public ReturnType returnType() {
		return this.returnType;
	}

	/**
	 * The number of keys, which are in one slot.
	 */
	public int keys() {
		return this.keys;
	}

	public byte[][] keysAndArgs() {
		return this.keysAndArgs;
	}

}
