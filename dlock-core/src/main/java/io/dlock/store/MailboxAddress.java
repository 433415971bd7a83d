package io.dlock.store;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The address of a process that waits for locks. The store keeps the addresses in the
 * queue of a lock, in the order of their arrival, and a release reserves the lock for the
 * first of them. The address states the duration of the reservation, since a process that
 * listens comes at once and a process that polls comes later. A dead process in the queue
 * costs the others this duration and one poll interval.
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
	 * The longest reservation.
	 */
	public static final Duration MAX_RESERVATION_TIME = Duration.ofMillis(9999);

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
	 * Create a random address.
	 * @param reservationTime how long to reserve a lock for this process; between 1 ms
	 * and 9.999 s
	 * @return the address
	 */
	public static MailboxAddress create(Duration reservationTime) {
		StringBuilder address = new StringBuilder(LENGTH);
		long millis = Math.max(1, Math.min(MAX_RESERVATION_TIME.toMillis(), reservationTime.toMillis()));
		address.append(String.format(Locale.ROOT, "%04d", millis));
		while (address.length() < LENGTH) {
			address.append(Character.forDigit(RANDOM.nextInt(RADIX), RADIX));
		}
		return new MailboxAddress(address.toString());
	}

	/**
	 * The duration of a reservation for this process.
	 * @return the duration
	 */
	public Duration reservationTime() {
		return Duration.ofMillis(Integer.parseInt(this.value.substring(0, 4)));
	}

	/**
	 * The owner of a lock that is reserved for this process. No acquire uses it.
	 * @return the owner
	 */
	public String reservationOwner() {
		return '>' + this.value;
	}

}
