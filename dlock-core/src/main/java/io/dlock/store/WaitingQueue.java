package io.dlock.store;

import org.jspecify.annotations.Nullable;

/**
 * The processes that wait for a key, in the order of their arrival, as text. An entry is
 * the {@linkplain MailboxAddress address} and a mark of the mode: a blank for an
 * exclusive request, {@code +} for a {@linkplain LockStore#isMember member}.
 *
 * @param text the entries
 * @since 0.1
 */
public record WaitingQueue(String text) {

	/**
	 * The queue without entries.
	 */
	public static final WaitingQueue EMPTY = new WaitingQueue("");

	private static final char EXCLUSIVE = ' ';

	private static final char MEMBER = '+';

	private static final int ENTRY = MailboxAddress.LENGTH + 1;

	/**
	 * The length of 10,000 entries, from which a queue takes no more.
	 */
	public static final int FULL = 10_000 * ENTRY;

	/**
	 * The entry of a process.
	 * @param mailbox its address
	 * @param member whether it waits as a member
	 * @return the entry
	 */
	public static String entry(MailboxAddress mailbox, boolean member) {
		return mailbox.value() + (member ? MEMBER : EXCLUSIVE);
	}

	/**
	 * Whether no process waits.
	 * @return whether it is empty
	 */
	public boolean isEmpty() {
		return this.text.isEmpty();
	}

	/**
	 * The number of entries.
	 * @return the number
	 */
	public int size() {
		return this.text.length() / ENTRY;
	}

	/**
	 * Whether an exclusive request waits.
	 * @return whether there is such an entry
	 */
	public boolean hasExclusive() {
		return this.text.indexOf(EXCLUSIVE) >= 0;
	}

	WaitingQueue withoutExclusive() {
		return new WaitingQueue(this.text.replaceAll(".{" + MailboxAddress.LENGTH + "}" + EXCLUSIVE, ""));
	}

	/**
	 * Whether the first process waits as a member.
	 * @return {@code false} if it does not, or if the queue is empty
	 */
	public boolean startsWithMember() {
		return !isEmpty() && this.text.charAt(MailboxAddress.LENGTH) == MEMBER;
	}

	boolean contains(MailboxAddress mailbox, boolean member) {
		return this.text.contains(entry(mailbox, member));
	}

	/**
	 * The {@linkplain AcquireResult.Refused#place() place} of a request that is refused.
	 * @param mailbox the address of its process, or {@code null}
	 * @param member whether it waits as a member
	 * @param queueing whether it asked to join the queue
	 * @return the number of entries before its own; if it has none, -1 if it asked for
	 * one, and otherwise the number of all entries
	 */
	public int place(@Nullable MailboxAddress mailbox, boolean member, boolean queueing) {
		int index = (mailbox != null) ? this.text.indexOf(entry(mailbox, member)) : -1;
		return place(index, this.text.length(), queueing);
	}

	/**
	 * As {@link #place(MailboxAddress, boolean, boolean)}, of a queue in a store.
	 * @param index the index of the entry in the text, or a negative number
	 * @param length the length of the text
	 * @param queueing whether the request asked to join the queue
	 * @return the place
	 */
	public static int place(int index, int length, boolean queueing) {
		if (index >= 0) {
			return index / ENTRY;
		}
		return queueing ? -1 : length / ENTRY;
	}

	MailboxAddress first() {
		return new MailboxAddress(this.text.substring(0, MailboxAddress.LENGTH));
	}

	WaitingQueue withoutFirst() {
		return new WaitingQueue(this.text.substring(ENTRY));
	}

	/**
	 * Append an entry unless there is one like it or the queue is full.
	 * @param mailbox the address of a process
	 * @param member whether it waits as a member
	 * @return the queue with the entry
	 */
	public WaitingQueue with(MailboxAddress mailbox, boolean member) {
		return (contains(mailbox, member) || isFull()) ? this : new WaitingQueue(this.text + entry(mailbox, member));
	}

	WaitingQueue withFirst(MailboxAddress mailbox, boolean member) {
		WaitingQueue others = without(mailbox, member);
		return others.isFull() ? others : new WaitingQueue(entry(mailbox, member) + others.text);
	}

	/**
	 * Remove an entry.
	 * @param mailbox the address of a process, or {@code null}
	 * @param member whether it waits as a member
	 * @return the queue without the entry
	 */
	public WaitingQueue without(@Nullable MailboxAddress mailbox, boolean member) {
		return (mailbox != null) ? new WaitingQueue(this.text.replace(entry(mailbox, member), "")) : this;
	}

	private boolean isFull() {
		return this.text.length() >= FULL;
	}

}
