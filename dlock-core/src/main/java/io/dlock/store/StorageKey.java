package io.dlock.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Writes any key as printable ASCII of bounded length, so that no store, collation,
 * normalisation or cluster hash tag can make two keys one or one key two.
 * <p>
 * Letters, digits and {@code . _ : / @ # = + , ; -} stand for themselves. Any other
 * character is written as the {@code %XX} of its UTF-8 bytes; half of a surrogate pair,
 * which has no UTF-8, is written as {@code %uXXXX}. A text that would be longer than
 * {@value #MAX_LENGTH} characters is replaced by its beginning, a {@code ~} and the
 * SHA-256 of the key; no other text contains {@code ~}.
 *
 * @since 0.1
 */
public final class StorageKey {

	/**
	 * The length of the longest storage key.
	 */
	public static final int MAX_LENGTH = 512;

	private static final int HASHED_PREFIX_LENGTH = MAX_LENGTH - 1 - 64;

	private static final String LITERALS = "._:/@#=+,;-";

	/** A bit for each character that stands for itself. */
	private static final long LITERALS_BELOW_64 = literalsFrom(0);

	private static final long LITERALS_FROM_64 = literalsFrom(64);

	private static final Pattern WRITTEN = Pattern
		.compile("(?:[a-zA-Z0-9" + Pattern.quote(LITERALS) + "]|%[0-9A-F]{2}|%u[0-9A-F]{4})+");

	private static final Pattern SHORTENED = Pattern
		.compile("[a-zA-Z0-9%" + Pattern.quote(LITERALS) + "]{" + HASHED_PREFIX_LENGTH + "}~[0-9a-f]{64}");

	private static final HexFormat HEX = HexFormat.of().withUpperCase();

	private StorageKey() {
	}

	/**
	 * Write a key.
	 * @param key the key as the user wrote it
	 * @return the storage key
	 */
	public static String of(String key) {
		if (key.length() <= MAX_LENGTH && isLiteral(key)) {
			return key;
		}
		String encoded = encode(key);
		if (encoded.length() <= MAX_LENGTH) {
			return encoded;
		}
		return encoded.substring(0, HASHED_PREFIX_LENGTH) + '~' + sha256(key);
	}

	/**
	 * The storage key for a text that an operator enters, which is either the storage key
	 * itself or the key as the user wrote it.
	 * @param text a storage key or a key
	 * @return the storage key
	 */
	public static String ofShown(String text) {
		boolean shown = text.length() <= MAX_LENGTH
				&& (WRITTEN.matcher(text).matches() || SHORTENED.matcher(text).matches());
		return shown ? text : of(text);
	}

	private static boolean isLiteral(String key) {
		for (int i = 0; i < key.length(); i++) {
			if (!isLiteral(key.charAt(i))) {
				return false;
			}
		}
		return true;
	}

	private static boolean isLiteral(char c) {
		return c < 128 && ((((c < 64) ? LITERALS_BELOW_64 : LITERALS_FROM_64) >>> c) & 1) != 0;
	}

	private static long literalsFrom(int first) {
		return IntStream.range(first, first + 64)
			.filter((c) -> Character.isLetterOrDigit(c) || LITERALS.indexOf(c) >= 0)
			.mapToLong((c) -> 1L << c)
			.sum();
	}

	private static String encode(String key) {
		StringBuilder encoded = new StringBuilder(key.length() + 16);
		key.codePoints().forEach((codePoint) -> {
			if (codePoint < 128 && isLiteral((char) codePoint)) {
				encoded.append((char) codePoint);
			}
			else if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
				encoded.append("%u").append(HEX.toHexDigits((char) codePoint));
			}
			else {
				for (byte b : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
					encoded.append('%').append(HEX.toHexDigits(b));
				}
			}
		});
		return encoded.toString();
	}

	private static String sha256(String key) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			for (int i = 0; i < key.length(); i++) {
				digest.update((byte) (key.charAt(i) >>> 8));
				digest.update((byte) key.charAt(i));
			}
			return HexFormat.of().formatHex(digest.digest());
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
