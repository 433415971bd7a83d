package io.dlock.engine;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The identity of an attempt to acquire a lock: 128 random bits. Not of a host, process
 * or thread: whoever knows it can release the lock.
 */
final class OwnerIds {

	private static final SecureRandom RANDOM = new SecureRandom();

	private OwnerIds() {
	}

	static String next() {
		byte[] bits = new byte[16];
		RANDOM.nextBytes(bits);
		return HexFormat.of().formatHex(bits);
	}

}
