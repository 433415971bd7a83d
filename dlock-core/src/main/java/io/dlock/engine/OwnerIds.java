package io.dlock.engine;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * Creates the owners of acquisitions, 128 random bits each. An owner permits the release
 * of the lock, so that it does not contain a host, process or thread.
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
