package io.dlock.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockStore;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoredLock;

/**
 * A lock in memory. An owner that begins with {@code >} is a reservation, an owner that
 * begins with {@code ~} keeps the lock after its release.
 *
 * @param owner the owner
 * @param token the token
 * @param until when the lease ends
 * @param holder the holder, for people
 * @param reason the reason
 * @param since the time of the acquire
 * @param waiting the queue
 */
record Entry(String owner, long token, long until, String holder, String reason, Instant since,
		List<MailboxAddress> waiting) {

	boolean isOver(long now) {
		return now - this.until >= 0;
	}

	boolean isReservation() {
		return this.owner.startsWith(">");
	}

	boolean isKept() {
		return this.owner.startsWith("~");
	}

	Entry keptUntil(long end) {
		return new Entry(LockStore.keptOwner(this.owner), this.token, end, this.holder, this.reason, this.since,
				this.waiting);
	}

	boolean isHeld(long now) {
		return !isOver(now) && !isReservation();
	}

	StoredLock stored(String storageKey, long now) {
		Instant today = Instant.now();
		return new StoredLock(storageKey, this.holder, this.reason, this.since, today.plusNanos(this.until - now),
				this.token, Duration.between(this.since, today), isKept());
	}

	Entry until(long until) {
		return new Entry(this.owner, this.token, until, this.holder, this.reason, this.since, this.waiting);
	}

	Entry withWaiting(List<MailboxAddress> waiting) {
		return new Entry(this.owner, this.token, this.until, this.holder, this.reason, this.since, waiting);
	}

	Entry queue(MailboxAddress mailbox) {
		return this.waiting.contains(mailbox) ? this
				: withWaiting(Stream.concat(this.waiting.stream(), Stream.of(mailbox)).toList());
	}

	List<MailboxAddress> without(@Nullable MailboxAddress mailbox) {
		return this.waiting.stream().filter((waiting) -> !waiting.equals(mailbox)).toList();
	}

	/**
	 * Reserve the lock for the first process of the queue.
	 * @return the reservation, or {@code null} if no process waits
	 */
	@Nullable Entry passOn(long now) {
		if (this.waiting.isEmpty()) {
			return null;
		}
		MailboxAddress next = this.waiting.get(0);
		return new Entry(next.reservationOwner(), this.token, now + next.reservationTime().toNanos(), "", "",
				this.since, this.waiting.subList(1, this.waiting.size()));
	}

}
