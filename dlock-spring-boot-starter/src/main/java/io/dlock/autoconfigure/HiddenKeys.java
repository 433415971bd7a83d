package io.dlock.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Hides keys behind a hash with a random secret of this process: without a secret, a
 * guess could be compared with the hashes that are shown. The same key has the same hash
 * within a process only, at the endpoint {@code dlocks} and on spans.
 *
 * @since 0.1
 */
public final class HiddenKeys {

	private static final String ALGORITHM = "HmacSHA256";

	private static final int SHOWN_BYTES = 16;

	private final SecretKeySpec secret;

	/**
	 * Create a random secret.
	 */
	public HiddenKeys() {
		byte[] bytes = new byte[32];
		new SecureRandom().nextBytes(bytes);
		this.secret = new SecretKeySpec(bytes, ALGORITHM);
	}

	/**
	 * Hide a key.
	 * @param key the key as it is stored
	 * @return the text to show instead
	 */
	public String hide(String key) {
		try {
			Mac mac = Mac.getInstance(ALGORITHM);
			mac.init(this.secret);
			byte[] hash = mac.doFinal(key.getBytes(StandardCharsets.UTF_8));
			return "hidden:" + HexFormat.of().formatHex(hash, 0, SHOWN_BYTES);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has " + ALGORITHM, ex);
		}
	}

}
