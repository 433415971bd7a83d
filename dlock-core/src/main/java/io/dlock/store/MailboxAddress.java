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
 * An address consists of four digits, the duration of the reservation in milliseconds,
 * and twelve letters and digits, eight of which are random. In the address of one
 * {@linkplain #ofRequest request}, a point and the number of the request replace the last
 * four characters.
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

	private static final Pattern FORMAT = Pattern.compile("[0-9]{4}[0-9a-z]{8}([0-9a-z]{4}|\\.[0-9a-z]{3})");

	private static final SecureRandom RANDOM = new SecureRandom();

	private static final int RADIX = 36;

	private static final int PROCESS_LENGTH = 12;

	private static final String PROCESS = "0000";

	private static final int REQUESTS = RADIX * RADIX * RADIX;

	public MailboxAddress {
		if (!FORMAT.matcher(value).matches()) {
			throw new IllegalArgumentException(
					"A mailbox address is 4 digits and 12 lower-case letters or digits, with a point before the last 3 for a request, but this is '"
							+ value + "'");
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
		while (address.length() < PROCESS_LENGTH) {
			address.append(Character.forDigit(RANDOM.nextInt(RADIX), RADIX));
		}
		return new MailboxAddress(address.append(PROCESS).toString());
	}

	/**
	 * The address of one request of this process, which has a place of its own in the
	 * queue and a reservation of its own.
	 * @param number the number of the request, unique among 46,656 consecutive ones
	 * @return the address
	 */
	public MailboxAddress ofRequest(int number) {
		String digits = Integer.toString(REQUESTS + Math.floorMod(number, REQUESTS), RADIX);
		return new MailboxAddress(this.value.substring(0, PROCESS_LENGTH) + '.' + digits.substring(1));
	}

	/**
	 * Whether this is the address of one request.
	 * @return whether it is
	 */
	public boolean isOfRequest() {
		return this.value.charAt(PROCESS_LENGTH) == '.';
	}

	/**
	 * The address at which the process listens.
	 * @return this address, or for a request the address of its process
	 */
	public MailboxAddress mailbox() {
		return isOfRequest() ? new MailboxAddress(processPart() + PROCESS) : this;
	}

	/**
	 * The part that the address of a process and those of its requests have in common.
	 * @return the first twelve characters
	 */
	public String processPart() {
		return this.value.substring(0, PROCESS_LENGTH);
	}

	/**
	 * The message that tells the mailbox that a lock is reserved for this address.
	 * @param storageKey the storage key, which contains no blank
	 * @return the storage key; for a request, followed by a blank and the address
	 */
	public String message(String storageKey) {
		return isOfRequest() ? storageKey + ' ' + this.value : storageKey;
	}

	/**
	 * The storage key of a {@linkplain #message message}.
	 * @param message the message
	 * @return the storage key
	 */
	public static String storageKey(String message) {
		int end = message.indexOf(' ');
		return (end < 0) ? message : message.substring(0, end);
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
