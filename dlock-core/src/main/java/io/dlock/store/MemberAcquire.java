package io.dlock.store;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockRecord.Change;
import io.dlock.store.LockStore.AcquireCommand;

/**
 * The acquire of a {@linkplain LockStore#isMember member}, for stores that change a
 * {@link LockRecord}.
 *
 * @param command the command; its owner is a member
 * @param now the time of the store
 * @param clock the microseconds since 1970 to mint a token from
 * @since 0.1
 */
public record MemberAcquire(AcquireCommand command, long now, long clock) {

	/**
	 * Acquire the key.
	 * @param before the record of the key
	 * @return the next record and the answer
	 */
	public Change<AcquireResult> on(LockRecord before) {
		LockRecord record = afterRelease(before).withoutAbsent(this.now);
		Member own = record.living(this.command.owner(), this.now);
		if (own == null && isRefused(record)) {
			LockRecord queued = queued(record);
			return new Change<>(queued,
					refusal(record, queued.waiting().place(this.command.mailbox(), true, this.command.queueing())));
		}
		if (own == null && isPlaceGone(before)) {
			return new Change<>(record, new AcquireResult.Refused(Duration.ZERO, null));
		}
		long end = this.now + LockRecord.micros(this.command.lease());
		Member member = (own != null) ? own.atLeastUntil(end) : new Member(this.command.owner(), end,
				Math.max(record.token() + 1, this.clock), this.now, this.command.holder(), this.command.reason());
		List<Member> members = record.others(member.owner(), reservation(), this.now);
		members.add(member);
		int room = Math.min(limit() - members.size(), LockRecord.RESERVATIONS_AT_ONCE);
		LockRecord granted = record
			.withMembers(members, Math.max(record.token(), member.token()),
					record.waiting().without(this.command.mailbox(), true))
			.reserved(room, this.now);
		return new Change<>(granted, new AcquireResult.Granted(member.token(), granted.waiting().hasExclusive()));
	}

	/**
	 * The record after the owner that this command releases has released the key. The
	 * member takes the place of an exclusive owner before any process of the queue.
	 */
	private LockRecord afterRelease(LockRecord record) {
		String releasing = this.command.releasing();
		if (releasing == null) {
			return record;
		}
		if (LockStore.isMember(releasing)) {
			return record.release(releasing, this.now).record();
		}
		return isHeldBy(record, releasing) ? record.free(this.now) : record;
	}

	/**
	 * Whether an exclusive owner whose place the member is to take does not hold the key
	 * any more. Another one may have come and gone since then.
	 */
	private boolean isPlaceGone(LockRecord record) {
		String releasing = this.command.releasing();
		return releasing != null && !LockStore.isMember(releasing) && !isHeldBy(record, releasing);
	}

	private boolean isHeldBy(LockRecord record, String owner) {
		return record.owner().equals(owner) && !record.isOver(this.now);
	}

	private int limit() {
		return Math.min(this.command.limit(), LockRecord.MAX_MEMBERS);
	}

	/**
	 * The owner of a reservation for this process; empty if there can be none.
	 */
	private String reservation() {
		MailboxAddress mailbox = this.command.mailbox();
		return (mailbox != null) ? mailbox.reservationOwner() : "";
	}

	private boolean isRefused(LockRecord record) {
		if (isHeldByOther(record)) {
			return true;
		}
		List<Member> others = others(record);
		boolean reserved = record.living(reservation(), this.now) != null;
		return others.size() >= limit() || (!others.isEmpty() && record.waiting().hasExclusive() && !reserved);
	}

	private boolean isHeldByOther(LockRecord record) {
		return !record.owner().isEmpty() && !record.owner().equals(LockRecord.MEMBERS)
				&& !record.owner().equals(reservation()) && !record.isOver(this.now);
	}

	private List<Member> others(LockRecord record) {
		return record.others(this.command.owner(), reservation(), this.now);
	}

	/**
	 * The record after a refusal. A process whose reserved place is gone, because the
	 * limit became smaller, is the first of the queue again unless the queue is full. A
	 * reservation that is over is removed, so that a process that polls does not find it.
	 */
	private LockRecord queued(LockRecord record) {
		MailboxAddress mailbox = this.command.mailbox();
		if (mailbox == null || !this.command.queueing()) {
			return record;
		}
		Member reserved = record.find((each) -> each.owner().equals(reservation()));
		if (reserved == null) {
			return record.withWaiting(record.waiting().with(mailbox, true));
		}
		return record.withMembers(others(record), record.token(), reserved.lasts(this.now)
				? record.waiting().withFirst(mailbox, true) : record.waiting().with(mailbox, true));
	}

	private AcquireResult refusal(LockRecord record, int place) {
		List<Member> others = others(record);
		boolean full = others.size() >= limit();
		long end = full ? others.stream().mapToLong(Member::until).min().orElseThrow() : record.until();
		@Nullable StoredLock lock = record.current(StorageKey.of(this.command.key()), this.now);
		return new AcquireResult.Refused(Duration.of(Math.max(0, end - this.now), ChronoUnit.MICROS), lock, place);
	}

}
