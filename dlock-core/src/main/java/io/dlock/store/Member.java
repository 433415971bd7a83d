package io.dlock.store;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One of the owners that hold a key together, or a place that is reserved for a process.
 * Times are microseconds of the store's clock.
 *
 * @param owner the owner, or the owner of a reservation
 * @param until when its lease ends
 * @param token its token; zero for a reservation
 * @param since the time of the acquire
 * @param holder the holder, for people
 * @param reason the reason, for people
 * @since 0.1
 */
public record Member(String owner, long until, long token, long since, String holder, String reason) {

	/** The longest text for people. */
	private static final int TEXT_LENGTH = 255;

	private static final String FIELD = " ";

	private static final String END = ",";

	static Member reservation(MailboxAddress mailbox, long now) {
		return new Member(mailbox.reservationOwner(), now + 1000 * mailbox.reservationTime().toMillis(), 0, now, "",
				"");
	}

	boolean isReservation() {
		return isReservation(this.owner);
	}

	static boolean isReservation(String owner) {
		return owner.startsWith(">");
	}

	boolean lasts(long now) {
		return this.until > now;
	}

	Member atLeastUntil(long end) {
		return new Member(this.owner, Math.max(this.until, end), this.token, this.since, this.holder, this.reason);
	}

	StoredLock stored(String storageKey, long now) {
		return new StoredLock(storageKey, this.holder, this.reason, instant(this.since), instant(this.until),
				this.token, Duration.of(now - this.since, ChronoUnit.MICROS), this.owner.startsWith("~"),
				LockStore.isMember(this.owner));
	}

	private static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	/**
	 * Write members as ASCII text. The address of a reservation appears in it as it is.
	 * @param members the members
	 * @return the text; empty if there are none
	 */
	public static String format(List<Member> members) {
		return members.stream()
			.map((member) -> Stream
				.of(member.owner, member.until, member.token, member.since, shortened(member.holder),
						shortened(member.reason))
				.map((field) -> URLEncoder.encode(field.toString(), StandardCharsets.UTF_8))
				.collect(Collectors.joining(FIELD)))
			.collect(Collectors.joining(END));
	}

	private static String shortened(String text) {
		return text.substring(0, Math.min(TEXT_LENGTH, text.length()));
	}

	/**
	 * Read members from text.
	 * @param text the text
	 * @return the members
	 */
	public static List<Member> parse(String text) {
		return text.isEmpty() ? List.of() : Arrays.stream(text.split(END)).map(Member::parseOne).toList();
	}

	private static Member parseOne(String text) {
		String[] fields = Arrays.stream(text.split(FIELD, -1))
			.map((field) -> URLDecoder.decode(field, StandardCharsets.UTF_8))
			.toArray(String[]::new);
		return new Member(fields[0], Long.parseLong(fields[1]), Long.parseLong(fields[2]), Long.parseLong(fields[3]),
				fields[4], fields[5]);
	}

}
