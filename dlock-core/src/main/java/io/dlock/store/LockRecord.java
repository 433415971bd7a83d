package io.dlock.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The record of a key, with the rules for {@linkplain LockStore#isMember members}. It is
 * for stores that read a record, compute the next one, and write that if the record has
 * not changed meanwhile. {@link MemberAcquire} computes the record after an acquire.
 * Times are microseconds of the store's clock.
 * <p>
 * The owner of a record that members hold is {@link #MEMBERS}. Code that knows nothing of
 * members sees another owner, which holds the key until the longest lease of a member
 * ends.
 *
 * @param owner the exclusive owner, empty if the key is free; an owner that begins with
 * {@code >} is a reservation, one that begins with {@code ~} keeps the lock after its
 * release
 * @param until when the lease of the owner, or the longest lease of a member, ends
 * @param token the token that was minted last
 * @param since the time of the last acquire
 * @param holder the last holder, for people
 * @param reason its reason
 * @param members the members and the places that are reserved for members, if
 * {@code owner} is {@link #MEMBERS}
 * @param waiting the queue
 * @param asked when an exclusive request of the queue last asked, to within a few
 * seconds, if members hold the key; 0 if unknown
 * @since 0.1
 */
public record LockRecord(String owner, long until, long token, long since, String holder, String reason,
		List<Member> members, WaitingQueue waiting, long asked) {

	/**
	 * The owner of a record that members hold.
	 */
	public static final String MEMBERS = "+";

	/**
	 * The largest number of members of a key.
	 */
	public static final int MAX_MEMBERS = 1000;

	/**
	 * A record without an owner, a token and a queue.
	 */
	public static final LockRecord NONE = new LockRecord("", 0, 0, 0, "", "", List.of(), WaitingQueue.EMPTY);

	static final int RESERVATIONS_AT_ONCE = 100;

	/**
	 * How long an exclusive request keeps members waiting after it has asked last: its
	 * process asks again and again as long as it lives.
	 */
	static final long ASK_TIMEOUT = 10_000_000;

	private static final long ASK_INTERVAL = ASK_TIMEOUT / 4;

	public LockRecord {
		boolean shared = owner.equals(MEMBERS);
		members = shared ? List.copyOf(members) : List.of();
		asked = shared ? asked : 0;
	}

	/**
	 * Create a record in which no exclusive request has asked.
	 * @param owner the owner
	 * @param until when its lease ends
	 * @param token the token that was minted last
	 * @param since the time of the last acquire
	 * @param holder the last holder
	 * @param reason its reason
	 * @param members the members
	 * @param waiting the queue
	 */
	public LockRecord(String owner, long until, long token, long since, String holder, String reason,
			List<Member> members, WaitingQueue waiting) {
		this(owner, until, token, since, holder, reason, members, waiting, 0);
	}

	/**
	 * A duration in microseconds, rounded up.
	 * @param duration the duration
	 * @return the microseconds
	 */
	public static long micros(Duration duration) {
		return (duration.toNanos() + 999) / 1000;
	}

	/**
	 * Renew the lease of a member.
	 * @param member the owner
	 * @param lease how long to hold the key from now, in microseconds
	 * @param now the time of the store
	 * @return whether the member holds the key
	 */
	public Change<Boolean> renew(String member, long lease, long now) {
		Member held = living(member, now);
		if (held == null) {
			return new Change<>(this, false);
		}
		List<Member> renewed = this.members.stream()
			.map((each) -> each.equals(held) ? each.atLeastUntil(now + lease) : each)
			.toList();
		return new Change<>(withMembers(renewed, this.token, this.waiting), true);
	}

	/**
	 * Release a member, and pass its place on.
	 * @param member the owner
	 * @param now the time of the store
	 * @return whether the member held the key
	 */
	public Change<Boolean> release(String member, long now) {
		return (living(member, now) != null) ? new Change<>(without(member, now), true) : new Change<>(this, false);
	}

	/**
	 * Release the member that has a token.
	 * @param token the token
	 * @param now the time of the store
	 * @return whether a member had it
	 */
	public Change<Boolean> forceRelease(long token, long now) {
		Member member = find((each) -> each.token() == token && !each.isReservation());
		return (member != null) ? release(member.owner(), now) : new Change<>(this, false);
	}

	/**
	 * Leave the queue, and give up a place that is reserved among members, unless the
	 * reservation is over. When an exclusive request leaves, the members behind it may
	 * follow.
	 * @param mailbox the address of the process
	 * @param now the time of the store
	 * @return the record
	 */
	public LockRecord leave(MailboxAddress mailbox, long now) {
		boolean exclusive = this.waiting.contains(mailbox, false);
		LockRecord left = withWaiting(this.waiting.without(mailbox, false).without(mailbox, true));
		String reservation = mailbox.reservationOwner();
		boolean freed = exclusive || living(reservation, now) != null;
		return (freed && this.owner.equals(MEMBERS)) ? left.without(reservation, now) : left;
	}

	/**
	 * The owners that hold the key: the exclusive one, or the members without
	 * reservations, with the last to acquire at the end.
	 * @param storageKey the storage key
	 * @param now the time of the store
	 * @return the locks; empty if the key is free or reserved
	 */
	public List<StoredLock> stored(String storageKey, long now) {
		return holders().stream()
			.filter((holder) -> holder.lasts(now) && !holder.owner().isEmpty() && !holder.isReservation())
			.map((holder) -> holder.stored(storageKey, now))
			.toList();
	}

	/**
	 * The processes for which this record reserves the key and the other record does not.
	 * @param before the other record
	 * @return their addresses
	 */
	public List<MailboxAddress> reservedSince(LockRecord before) {
		Map<String, Long> reserved = reservations();
		if (reserved.isEmpty()) {
			return List.of();
		}
		Map<String, Long> known = before.reservations();
		return reserved.entrySet()
			.stream()
			.filter((each) -> !each.getValue().equals(known.get(each.getKey())))
			.map((each) -> new MailboxAddress(each.getKey().substring(1)))
			.toList();
	}

	/**
	 * The reservations with their ends. One that is over stays until the next change of
	 * the members, and its process may have another one then.
	 */
	private Map<String, Long> reservations() {
		if (!this.owner.equals(MEMBERS)) {
			return Member.isReservation(this.owner) ? Map.of(this.owner, this.until) : Map.of();
		}
		return this.members.stream()
			.filter(Member::isReservation)
			.collect(Collectors.toMap(Member::owner, Member::until, (one, other) -> other, LinkedHashMap::new));
	}

	/**
	 * Whether a member holds the key that did not hold it before, or holds it for longer.
	 * @param before the other record
	 * @return whether the change from that record must survive a crash of the store
	 */
	public boolean grantsSince(LockRecord before) {
		return this.members.stream().anyMatch((member) -> !member.isReservation() && !before.members.contains(member));
	}

	private List<Member> holders() {
		return this.owner.equals(MEMBERS) ? this.members
				: List.of(new Member(this.owner, this.until, this.token, this.since, this.holder, this.reason));
	}

	/**
	 * Whether the lease is over.
	 * @param now the time of the store
	 * @return whether it is
	 */
	public boolean isOver(long now) {
		return now >= this.until;
	}

	/**
	 * The lock of the holder, or of the member that holds the key longest, for people.
	 * @param storageKey the storage key
	 * @param now the time of the store
	 * @return the lock; {@code null} if the key is free, reserved or kept
	 */
	public @Nullable StoredLock current(String storageKey, long now) {
		return stored(storageKey, now).stream()
			.filter((lock) -> !lock.kept())
			.max(Comparator.comparing(StoredLock::until))
			.orElse(null);
	}

	/**
	 * The record after its exclusive owner has released it: free, or reserved for the
	 * first process of the queue.
	 * @param now the time of the store
	 * @return the record
	 */
	public LockRecord passedOn(long now) {
		return free(now).passedOn(1, now);
	}

	/**
	 * The record with another end.
	 * @param until the end
	 * @return the record
	 */
	public LockRecord until(long until) {
		return new LockRecord(this.owner, until, this.token, this.since, this.holder, this.reason, this.members,
				this.waiting);
	}

	/**
	 * The record with a larger token.
	 * @param least the least token
	 * @return the record
	 */
	public LockRecord atLeastToken(long least) {
		return new LockRecord(this.owner, this.until, Math.max(this.token, least), this.since, this.holder, this.reason,
				this.members, this.waiting);
	}

	/**
	 * The record of a lock that is kept after its release.
	 * @param end when it ends
	 * @return the record
	 */
	public LockRecord keptUntil(long end) {
		return new LockRecord(LockStore.keptOwner(this.owner), end, this.token, this.since, this.holder, this.reason,
				List.of(), this.waiting);
	}

	/**
	 * The record with another queue.
	 * @param waiting the queue
	 * @return the record
	 */
	public LockRecord withWaiting(WaitingQueue waiting) {
		return with(waiting, this.asked);
	}

	private LockRecord with(WaitingQueue waiting, long asked) {
		return new LockRecord(this.owner, this.until, this.token, this.since, this.holder, this.reason, this.members,
				waiting, asked);
	}

	/**
	 * The record after the refusal of an exclusive request that joins the queue or waits
	 * in it.
	 * @param mailbox its address
	 * @param now the time of the store
	 * @return the record
	 */
	public LockRecord asked(MailboxAddress mailbox, long now) {
		return with(this.waiting.with(mailbox, false), (now - this.asked < ASK_INTERVAL) ? this.asked : now);
	}

	/**
	 * The record without the exclusive requests of the queue, if none of them has asked
	 * for so long that they are dead.
	 */
	LockRecord withoutAbsent(long now) {
		if (!this.waiting.hasExclusive()) {
			return this;
		}
		if (this.asked == 0) {
			return with(this.waiting, now);
		}
		return (now - this.asked < ASK_TIMEOUT) ? this : withWaiting(this.waiting.withoutExclusive());
	}

	LockRecord free(long now) {
		return new LockRecord("", now, this.token, this.since, this.holder, this.reason, List.of(), this.waiting);
	}

	/**
	 * Remove a member and those whose lease is over, and pass their places on.
	 */
	private LockRecord without(String member, long now) {
		List<Member> left = others(member, "", now);
		int places = Math.max(1, this.members.size() - left.size());
		LockRecord record = left.isEmpty() ? free(now) : withMembers(left, this.token, this.waiting);
		return record.passedOn(Math.min(places, RESERVATIONS_AT_ONCE), now);
	}

	private LockRecord passedOn(int places, long now) {
		if (!this.owner.isEmpty() || this.waiting.isEmpty() || this.waiting.startsWithMember()) {
			return reserved(places, now);
		}
		Member next = Member.reservation(this.waiting.first(), now);
		return new LockRecord(next.owner(), next.until(), this.token, this.since, this.holder, this.reason, List.of(),
				this.waiting.withoutFirst());
	}

	/**
	 * Reserve places for the members at the head of the queue.
	 */
	LockRecord reserved(int places, long now) {
		WaitingQueue rest = this.waiting;
		if (places <= 0 || !rest.startsWithMember()) {
			return this;
		}
		List<Member> reserved = new ArrayList<>(this.members);
		for (int i = 0; i < places && rest.startsWithMember(); i++) {
			reserved.add(Member.reservation(rest.first(), now));
			rest = rest.withoutFirst();
		}
		return withMembers(reserved, this.token, rest);
	}

	/**
	 * The living members but two.
	 */
	List<Member> others(String member, String reservation, long now) {
		List<Member> others = new ArrayList<>(this.members);
		others.removeIf((each) -> !each.lasts(now) || each.owner().equals(member) || each.owner().equals(reservation));
		return others;
	}

	LockRecord withMembers(List<Member> members, long token, WaitingQueue waiting) {
		Member last = null;
		long end = 0;
		for (Member member : members) {
			end = Math.max(end, member.until());
			last = member.isReservation() ? last : member;
		}
		return new LockRecord(members.isEmpty() ? "" : MEMBERS, end, token, (last != null) ? last.since() : this.since,
				(last != null) ? last.holder() : "", (last != null) ? last.reason() : "", members, waiting, this.asked);
	}

	@Nullable Member living(String member, long now) {
		return find((each) -> each.owner().equals(member) && each.lasts(now));
	}

	@Nullable Member find(Predicate<Member> wanted) {
		return this.members.stream().filter(wanted).findFirst().orElse(null);
	}

	/**
	 * The next record of a key.
	 *
	 * @param <T> the type of the answer
	 * @param record the record; equal to the one before if nothing changes
	 * @param answer the answer
	 */
	public record Change<T>(LockRecord record, T answer) {

	}

}
