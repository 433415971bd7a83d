package io.dlock.store;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Where a waiting process is told that its turn has come. The store keeps the addresses
 * of those who wait with the lock, first come first served, and at a release keeps the
 * lock for the first of them: as long as its address says, since a process that listens
 * comes at once and one that only looks now and then comes later. The lock is not kept
 * for longer, so that a dead process in the queue costs the others that long, and the
 * poll interval of the one that finds out.
 * <p>
 * An address is four digits, the milliseconds to keep the lock for, and twelve random
 * letters and digits.
 *
 * @param value the address
 * @since 0.1
 */
public record MailboxAddress(String value) {

	/**
	 * The length of an address.
	 */
	public static final int LENGTH = 16;

	/**
	 * The longest time to keep a lock for a process.
	 */
	public static final Duration MAX_PATIENCE = Duration.ofMillis(9999);

	private static final Pattern FORMAT = Pattern.compile("[0-9]{4}[0-9a-z]{12}");

	private static final SecureRandom RANDOM = new SecureRandom();

	private static final int RADIX = 36;

	public MailboxAddress {
		if (!FORMAT.matcher(value).matches()) {
			throw new IllegalArgumentException(
					"A mailbox address is 4 digits and 12 lower-case letters or digits, but this is '" + value + "'");
		}
	}

	/**
	 * Make up an address.
	 * @param patience how long to keep a lock for this process when its turn has come;
	 * between 1 ms and 9.999 s
	 * @return the address
	 */
	public static MailboxAddress create(Duration patience) {
		StringBuilder address = new StringBuilder(LENGTH);
		long millis = Math.max(1, Math.min(MAX_PATIENCE.toMillis(), patience.toMillis()));
		address.append(String.format(Locale.ROOT, "%04d", millis));
		while (address.length() < LENGTH) {
			address.append(Character.forDigit(RANDOM.nextInt(RADIX), RADIX));
		}
		return new MailboxAddress(address.toString());
	}

	/**
	 * How long a lock is kept for this process when its turn has come.
	 * @return the patience
	 */
	public Duration patience() {
		return Duration.ofMillis(Integer.parseInt(this.value.substring(0, 4)));
	}

	/**
	 * The owner of a lock that is kept for this process. No process has it.
	 * @return the owner
	 */
	public String reservation() {
		return '>' + this.value;
	}

}
