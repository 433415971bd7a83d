package io.dlock.store;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockRecord.Change;
import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules for members that need a clock of their own, or a record that a store does not
 * make.
 */
class LockRecordTests {

	private static final int UNLIMITED = AcquireCommand.UNLIMITED;

	private static final long SECOND = 1_000_000;

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(2));

	private final MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(2));

	private final MailboxAddress third = MailboxAddress.create(Duration.ofSeconds(2));

	private LockRecord record = LockRecord.NONE;

	private long now = 1_000_000 * SECOND;

	private AcquireResult acquire(String owner, int limit, @Nullable MailboxAddress mailbox,
			@Nullable String releasing) {
		AcquireCommand command = new AcquireCommand("key", owner, LEASE, "holder " + owner, "", mailbox,
				mailbox != null, releasing, limit);
		return answer(new MemberAcquire(command, this.now, this.now).on(this.record));
	}

	private long granted(String owner, int limit, @Nullable MailboxAddress mailbox) {
		return ((Granted) acquire(owner, limit, mailbox, null)).token();
	}

	private Refused refused(String owner, int limit, @Nullable MailboxAddress mailbox) {
		return (Refused) acquire(owner, limit, mailbox, null);
	}

	private boolean release(String owner) {
		return answer(this.record.release(owner, this.now));
	}

	private <T> T answer(Change<T> change) {
		this.record = change.record();
		return change.answer();
	}

	private void exclusive(String owner, Duration lease) {
		this.record = new LockRecord(owner, this.now + LockRecord.micros(lease), this.now, this.now, "holder", "",
				List.of(), this.record.waiting());
	}

	private void queueExclusive(MailboxAddress mailbox) {
		this.record = this.record.withWaiting(this.record.waiting().with(mailbox, false));
	}

	private List<String> owners() {
		return this.record.members().stream().map(Member::owner).toList();
	}

	/**
	 * A lease is never shorter than requested.
	 */
	@Test
	void leaseIsRoundedUpToMicroseconds() {
		assertThat(LockRecord.micros(Duration.ofNanos(1))).isEqualTo(1);
		assertThat(LockRecord.micros(Duration.ofNanos(1000))).isEqualTo(1);
		assertThat(LockRecord.micros(Duration.ofNanos(1001))).isEqualTo(2);
		assertThat(LockRecord.micros(Duration.ofSeconds(1))).isEqualTo(SECOND);
	}

	@Test
	void tokenIsTheClockOrOneMoreThanTheLast() {
		assertThat(granted("+a", UNLIMITED, null)).isEqualTo(this.now);
		assertThat(granted("+b", UNLIMITED, null)).isEqualTo(this.now + 1);
		this.now += SECOND;
		assertThat(granted("+c", UNLIMITED, null)).isEqualTo(this.now);
		assertThat(granted("+a", UNLIMITED, null)).isEqualTo(this.now - SECOND);
		assertThat(this.record.token()).isEqualTo(this.now);
	}

	@Test
	void exclusiveRequestKeepsMembersWaitingAsLongAsItAsks() {
		granted("+a", UNLIMITED, null);
		this.record = this.record.asked(this.first, this.now);
		for (int i = 0; i < 3; i++) {
			this.now += 9 * SECOND;
			refused("+b", UNLIMITED, this.second);
			answer(this.record.renew("+a", 30 * SECOND, this.now));
			this.record = this.record.asked(this.first, this.now);
		}
		this.now += 10 * SECOND - 1;
		refused("+b", UNLIMITED, this.second);
		this.now++;
		assertThat(((Granted) acquire("+b", UNLIMITED, this.second, null)).awaited()).isFalse();
		assertThat(this.record.waiting()).isEqualTo(WaitingQueue.EMPTY);
	}

	@Test
	void exclusiveRequestThatHasNotAskedYetKeepsMembersWaiting() {
		granted("+a", UNLIMITED, null);
		queueExclusive(this.first);
		refused("+b", UNLIMITED, this.second);
		refused("+c", UNLIMITED, this.third);
		this.now += 10 * SECOND;
		granted("+b", UNLIMITED, this.second);
		assertThat(owners()).containsExactlyInAnyOrder("+a", "+b", this.third.reservationOwner());
	}

	@Test
	void exclusiveRequestThatAsksOftenIsWrittenNowAndThen() {
		granted("+a", UNLIMITED, null);
		this.record = this.record.asked(this.first, this.now);
		assertThat(this.record.asked(this.first, this.now + 2 * SECOND)).isEqualTo(this.record);
		assertThat(this.record.asked(this.first, this.now + 3 * SECOND)).isNotEqualTo(this.record);
	}

	@Test
	void recordEndsWithTheLongestMember() {
		granted("+a", UNLIMITED, null);
		this.now += 10 * SECOND;
		granted("+b", UNLIMITED, null);
		assertThat(this.record.until()).isEqualTo(this.now + 30 * SECOND);
		assertThat(answer(this.record.renew("+a", 40 * SECOND, this.now))).isTrue();
		assertThat(this.record.until()).isEqualTo(this.now + 40 * SECOND);
		release("+a");
		assertThat(this.record.until()).isEqualTo(this.now + 30 * SECOND);
		release("+b");
		assertThat(this.record.owner()).isEmpty();
		assertThat(this.record.until()).isEqualTo(this.now);
	}

	@Test
	void memberHoldsTheKeyBeforeItsEndAndNotAtIt() {
		granted("+a", UNLIMITED, null);
		this.now += 30 * SECOND - 1;
		assertThat(this.record.renew("+a", 0, this.now).answer()).isTrue();
		assertThat(this.record.release("+a", this.now).answer()).isTrue();
		this.now++;
		assertThat(this.record.renew("+a", SECOND, this.now)).isEqualTo(new Change<>(this.record, false));
		assertThat(this.record.release("+a", this.now)).isEqualTo(new Change<>(this.record, false));
		assertThat(this.record.stored("key", this.now)).isEmpty();
	}

	@Test
	void refusalThatChangesNothingNeedsNoWrite() {
		granted("+a", 1, null);
		refused("+b", 1, this.first);
		LockRecord before = this.record;
		this.now += SECOND;
		refused("+b", 1, this.first);
		refused("+c", 1, null);
		assertThat(this.record).isEqualTo(before);
	}

	@Test
	void refusalNamesTheFirstEndIfTheLimitIsReachedAndTheLastIfARequestWaits() {
		granted("+a", UNLIMITED, null);
		this.now += 10 * SECOND;
		granted("+b", UNLIMITED, null);
		assertThat(refused("+c", 2, null).remaining()).isEqualTo(Duration.ofSeconds(20));
		queueExclusive(this.first);
		assertThat(refused("+c", 3, null).remaining()).isEqualTo(LEASE);
		assertThat(refused("+c", 3, null).lock()).isEqualTo(this.record.stored(StorageKey.of("key"), this.now).get(1));
	}

	@Test
	void membersOfARecordThatAnExclusiveOwnerHoldsAreStale() {
		Member stale = new Member("+a", this.now + SECOND, 1, 1, "", "");
		LockRecord held = new LockRecord("x", this.now + SECOND, 2, 2, "", "", List.of(stale), WaitingQueue.EMPTY);
		assertThat(held.members()).isEmpty();
		assertThat(held.renew("+a", SECOND, this.now).answer()).isFalse();
		assertThat(held.release("+a", this.now).answer()).isFalse();
	}

	@Test
	void expiredExclusiveOwnerIsFollowedByMembersThoughRequestsWait() {
		exclusive("x", Duration.ofSeconds(1));
		queueExclusive(this.first);
		refused("+a", UNLIMITED, null);
		this.now += SECOND;
		assertThat(acquire("+a", UNLIMITED, null, null)).isEqualTo(new Granted(this.now, true));
	}

	@Test
	void expiredMembersAreFollowedByMembersThoughRequestsWait() {
		granted("+a", UNLIMITED, null);
		queueExclusive(this.first);
		this.now += 30 * SECOND;
		assertThat(acquire("+b", UNLIMITED, null, null)).isEqualTo(new Granted(this.now, true));
		assertThat(owners()).containsExactly("+b");
	}

	@Test
	void keptAndReservedLocksRefuseMembersOfOtherProcesses() {
		exclusive("~x", LEASE);
		assertThat(refused("+a", UNLIMITED, this.first).lock()).isNull();
		this.record = LockRecord.NONE;
		exclusive(this.first.reservationOwner(), LEASE);
		assertThat(refused("+a", UNLIMITED, this.second).lock()).isNull();
		granted("+b", UNLIMITED, this.first);
		assertThat(owners()).containsExactly("+b", this.second.reservationOwner());
	}

	@Test
	void membersThatWaitAreReservedUpToTheLimit() {
		exclusive("x", LEASE);
		refused("+a", 2, this.first);
		refused("+b", 2, this.second);
		refused("+c", 2, this.third);
		this.record = this.record.passedOn(this.now);
		assertThat(owners()).containsExactly(this.first.reservationOwner());
		LockRecord before = this.record;
		granted("+a", 2, this.first);
		assertThat(owners()).containsExactly("+a", this.second.reservationOwner());
		assertThat(this.record.reservedSince(before)).containsExactly(this.second);
		assertThat(this.record.waiting().text()).isEqualTo(this.third.value() + "+");
	}

	@Test
	void atMostOneHundredPlacesAreReservedAtOnce() {
		exclusive("x", LEASE);
		for (int i = 0; i < 150; i++) {
			refused("+" + i, UNLIMITED, MailboxAddress.create(Duration.ofSeconds(1)));
		}
		this.record = this.record.passedOn(this.now);
		granted("+a", UNLIMITED, null);
		assertThat(this.record.members()).hasSize(102);
		assertThat(this.record.waiting().size()).isEqualTo(49);
	}

	@Test
	void reservedPlaceEndsByItself() {
		granted("+a", 1, null);
		refused("+b", 1, this.first);
		release("+a");
		assertThat(refused("+c", 1, null)).isEqualTo(new Refused(Duration.ofSeconds(2), null, 0));
		this.now += 2 * SECOND;
		granted("+c", 1, null);
		assertThat(owners()).containsExactly("+c");
	}

	@Test
	void placesOfExpiredMembersArePassedOnWithTheNextRelease() {
		granted("+a", 3, null);
		granted("+b", 3, null);
		this.now += 10 * SECOND;
		granted("+c", 3, null);
		refused("+d", 3, this.first);
		refused("+e", 3, this.second);
		refused("+f", 3, this.third);
		this.now += 20 * SECOND;
		release("+c");
		assertThat(owners()).hasSize(3).allMatch((owner) -> owner.startsWith(">"));
	}

	@Test
	void exclusiveRequestAtTheHeadOfTheQueueGetsNoPlaceAmongMembers() {
		granted("+a", UNLIMITED, null);
		granted("+b", UNLIMITED, null);
		queueExclusive(this.first);
		release("+a");
		assertThat(owners()).containsExactly("+b");
		release("+b");
		assertThat(this.record.owner()).isEqualTo(this.first.reservationOwner());
		assertThat(this.record.until()).isEqualTo(this.now + 2 * SECOND);
	}

	@Test
	void leavingChangesNothingForOtherProcesses() {
		granted("+a", 1, null);
		refused("+b", 1, this.first);
		LockRecord before = this.record;
		assertThat(this.record.leave(this.second, this.now)).isEqualTo(before);
		this.record = this.record.leave(this.first, this.now);
		assertThat(this.record.waiting().isEmpty()).isTrue();
		assertThat(owners()).containsExactly("+a");
	}

	@Test
	void membersAreReservedWhenTheExclusiveRequestBeforeThemLeaves() {
		granted("+a", UNLIMITED, null);
		queueExclusive(this.first);
		refused("+b", UNLIMITED, this.second);
		LockRecord before = this.record;
		this.record = this.record.leave(this.first, this.now);
		assertThat(owners()).containsExactly("+a", this.second.reservationOwner());
		assertThat(this.record.reservedSince(before)).containsExactly(this.second);
	}

	@Test
	void numberOfMembersIsBounded() {
		for (int i = 0; i < LockRecord.MAX_MEMBERS; i++) {
			granted("+" + i, UNLIMITED, null);
		}
		refused("+a", UNLIMITED, null);
		granted("+0", UNLIMITED, null);
	}

	@Test
	void membersAreWrittenAsAsciiAndRead() {
		List<Member> members = List.of(new Member("+a, b%", -1, Long.MAX_VALUE, 3, "ä 🔒 \u0000,", "'; --\n"),
				Member.reservation(this.first, this.now), new Member("+c", 1, 2, 3, "", ""));
		String text = Member.format(members);
		assertThat(text).matches("[\\x20-\\x7e]*").contains(this.first.value());
		assertThat(Member.parse(text)).isEqualTo(members);
		assertThat(Member.parse(Member.format(List.of()))).isEmpty();
		String tooLong = Member.format(List.of(new Member("+a", 1, 2, 3, "x".repeat(1000), "\uD83D")));
		assertThat(Member.parse(tooLong)).singleElement()
			.satisfies((member) -> assertThat(member.holder()).hasSize(255))
			.satisfies((member) -> assertThat(member.reason()).isEqualTo("?"));
	}

	/**
	 * The first sixteen characters of the queue are the address to reserve the lock for,
	 * and the next character is skipped.
	 */
	@Test
	void entriesOfTheQueueAreThoseOfEarlierVersionsButForTheMark() {
		WaitingQueue queue = WaitingQueue.EMPTY.with(this.first, true).with(this.second, false).with(this.first, true);
		assertThat(queue.text()).isEqualTo(this.first.value() + "+" + this.second.value() + " ");
		assertThat(queue.size()).isEqualTo(2);
		assertThat(queue.without(this.first, false)).isEqualTo(queue);
		assertThat(queue.without(this.first, true).text()).isEqualTo(this.second.value() + " ");
		assertThat(queue.startsWithMember()).isTrue();
		assertThat(queue.withoutFirst().startsWithMember()).isFalse();
		assertThat(queue.without(this.second, false).hasExclusive()).isFalse();
	}

	@Test
	void queueHasTenThousandPlaces() {
		WaitingQueue crowd = new WaitingQueue((this.first.value() + " ").repeat(9_999));
		WaitingQueue full = crowd.with(this.second, false);
		assertThat(full.size()).isEqualTo(10_000);
		assertThat(full.with(this.third, false)).isEqualTo(full);
		assertThat(full.withFirst(this.third, false)).isEqualTo(full);
		assertThat(full.withFirst(this.second, false).text()).startsWith(this.second.value() + " ")
			.hasSize(full.text().length());
	}

}
