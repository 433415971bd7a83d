package io.dlock.store.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Members and exclusive owners wait in one queue. Members that are next to each other in
 * it hold the key together.
 */
abstract class MemberQueueContract extends MemberPart {

	/** Over soon, but mostly not before the next command. */
	private static final Duration SOON = Duration.ofSeconds(1);

	private final MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));

	private final MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(9));

	private final MailboxAddress third = MailboxAddress.create(Duration.ofSeconds(9));

	private final MailboxAddress fourth = MailboxAddress.create(Duration.ofSeconds(9));

	MemberQueueContract(LockStoreContract contract) {
		super(contract, Feature.QUEUE);
	}

	@Test
	void exclusiveRequestGetsTheKeyWhenTheLastMemberGoes() {
		granted(share("+a"));
		granted(share("+b"));
		refused(ask("x", this.first));
		release("+a");
		refused(ask("x", this.first));
		release("+b");
		assertThat(find()).as("reserved").isEmpty();
		refused(ask("y", null));
		refused(share("+c"));
		granted(ask("x", this.first));
	}

	@Test
	void exclusiveRequestGetsTheKeyWhenTheLastMemberExpires() {
		untilInTime(SOON, () -> {
			granted(share("+a", SOON));
			return ask("x", this.first) instanceof Refused;
		});
		await().until(() -> ask("x", this.first) instanceof Granted);
		holdsNoMore("+a");
	}

	@Test
	void memberQueuesBehindAnExclusiveRequest() {
		granted(share("+a"));
		refused(ask("x", this.first));
		refused(share("+b"));
		refused(member("+b", UNLIMITED, this.second));
		assertThat(awaited(share("+a"))).as("a member learns that a request waits").isTrue();
		release("+a");
		refused(member("+b", UNLIMITED, this.second));
		granted(ask("x", this.first));
		refused(member("+b", UNLIMITED, this.second));
		release("x");
		refused(ask("y", null));
		assertThat(awaited(member("+b", UNLIMITED, this.second))).isFalse();
	}

	@Test
	void memberBehindAnExclusiveRequestIsToldWhenTheLastMemberEnds() {
		granted(share("+a", Duration.ofHours(1)));
		granted(share("+b"));
		refused(ask("x", this.first));
		assertThat(refused(share("+c")).remaining()).isGreaterThan(Duration.ofMinutes(59));
	}

	@Test
	void memberTakesAnExclusivePlaceOfItsProcess() {
		granted(ask("x", null));
		refused(ask("y", this.first));
		release("x");
		refused(share("+a"));
		granted(member("+a", UNLIMITED, this.first));
	}

	@Test
	void membersThatFollowEachOtherInTheQueueAreGrantedTogether() {
		granted(ask("x", null));
		refused(member("+a", UNLIMITED, this.first));
		refused(member("+b", UNLIMITED, this.second));
		refused(ask("y", this.third));
		refused(member("+c", UNLIMITED, this.fourth));
		release("x");
		assertThat(awaited(member("+a", UNLIMITED, this.first))).isTrue();
		assertThat(awaited(member("+b", UNLIMITED, this.second))).isTrue();
		refused(member("+c", UNLIMITED, this.fourth));
		release("+a");
		refused(ask("y", this.third));
		release("+b");
		granted(ask("y", this.third));
		release("y");
		granted(member("+c", UNLIMITED, this.fourth));
	}

	@Test
	void exclusiveOwnerBecomesAMemberBeforeTheQueue() {
		granted(ask("x", null));
		refused(ask("y", this.first));
		assertThat(awaited(member("+a", UNLIMITED, null, "x"))).isTrue();
		refused(ask("y", this.first));
		refused(share("+b"));
		release("+a");
		refused(share("+b"));
		granted(ask("y", this.first));
	}

	@Test
	void memberTakesNoPlaceBeforeTheQueueOfAnExclusiveOwnerWhoseLeaseIsOver() {
		untilInTime(shortLease(), () -> {
			granted(acquire("x", shortLease()));
			return ask("y", this.first) instanceof Refused;
		});
		await().until(() -> find().isEmpty());
		refused(member("+a", UNLIMITED, null, "x"));
		granted(ask("y", this.first));
	}

	@Test
	void membersAtTheHeadOfTheQueueJoinAnExclusiveOwnerThatBecomesAMember() {
		granted(ask("x", null));
		refused(member("+a", UNLIMITED, this.first));
		refused(ask("y", this.second));
		granted(member("+x", UNLIMITED, null, "x"));
		granted(member("+a", UNLIMITED, this.first));
		release("+x");
		release("+a");
		granted(ask("y", this.second));
	}

	@Test
	void freedPlaceIsReservedForTheHeadOfTheQueue() {
		granted(permit("+a", 2));
		granted(permit("+b", 2));
		refused(member("+c", 2, this.first));
		refused(member("+d", 2, this.second));
		release("+a");
		refused(permit("+e", 2));
		refused(member("+d", 2, this.second));
		granted(member("+c", 2, this.first));
		refused(permit("+e", 2));
		release("+b");
		granted(member("+d", 2, this.second));
	}

	@Test
	void eachReleaseReservesOnePlace() {
		granted(permit("+a", 3));
		granted(permit("+b", 3));
		granted(permit("+c", 3));
		refused(member("+d", 3, this.first));
		refused(member("+e", 3, this.second));
		release("+a");
		refused(member("+e", 3, this.second));
		granted(member("+d", 3, this.first));
		refused(member("+e", 3, this.second));
		release("+b");
		granted(member("+e", 3, this.second));
	}

	@Test
	void placesOfALargerLimitAreReservedForTheQueue() {
		granted(permit("+a", 1));
		refused(member("+b", 1, this.first));
		refused(member("+c", 1, this.second));
		release("+a");
		granted(member("+b", 2, this.first));
		refused(permit("+d", 2));
		granted(member("+c", 2, this.second));
	}

	@Test
	void reservedPlaceIsGoneWithASmallerLimitButNotThePlaceInTheQueue() {
		granted(permit("+a", 2));
		granted(permit("+b", 2));
		refused(member("+c", 2, this.first));
		refused(member("+d", 2, this.second));
		release("+a");
		refused(member("+c", 1, this.first));
		release("+b");
		refused(member("+d", 1, this.second));
		granted(member("+c", 1, this.first));
	}

	@Test
	void tryWithASmallerLimitCostsItsProcessNoReservedPlace() {
		granted(permit("+a", 2));
		granted(permit("+b", 2));
		refused(member("+c", 2, this.first));
		release("+a");
		refused(store()
			.acquire(new AcquireCommand(key(), "+try", LEASE, "holder", REASON, this.first, false, null, 1)));
		refused(permit("+d", 2));
		granted(member("+c", 2, this.first));
	}

	@Test
	void deadProcessInTheQueueCostsItsReservationOnly() {
		untilInTime(SOON, () -> {
			granted(permit("+a", 1));
			refused(member("+b", 1, MailboxAddress.create(SOON)));
			release("+a");
			AcquireResult result = permit("+c", 1);
			if (result instanceof Refused barging) {
				assertThat(barging.remaining()).isLessThanOrEqualTo(SOON);
			}
			return result instanceof Refused;
		});
		await().until(() -> permit("+c", 1) instanceof Granted);
		release("+c");
		granted(permit("+d", 1));
	}

	@Test
	void reservedPlacePassesToTheNextWhenItsProcessLeaves() {
		granted(permit("+a", 1));
		refused(member("+b", 1, this.first));
		refused(member("+c", 1, this.second));
		release("+a");
		store().leave(StorageKey.of(key()), this.first);
		refused(permit("+d", 1));
		granted(member("+c", 1, this.second));
	}

	@Test
	void reservedPlaceThatIsOverIsNotPassedOn() {
		MailboxAddress late = MailboxAddress.create(shortLease());
		granted(permit("+a", 1));
		refused(member("+b", 1, late));
		refused(member("+c", 1, this.second));
		release("+a");
		awaitEndOf(shortLease());
		store().leave(StorageKey.of(key()), late);
		granted(permit("+d", 1));
	}

	@Test
	void processThatLeftTheQueueGetsNoPlace() {
		granted(permit("+a", 1));
		refused(member("+b", 1, this.first));
		store().leave(StorageKey.of(key()), this.first);
		holds("+a");
		release("+a");
		granted(permit("+c", 1));
	}

	@Test
	void processThatWaitedForAnExclusiveOwnerLeavesForAMember() {
		granted(ask("x", null));
		refused(member("+a", UNLIMITED, this.first));
		store().leave(StorageKey.of(key()), this.first);
		release("x");
		granted(ask("y", null));
	}

	@Test
	void membersFollowWhenTheExclusiveRequestBeforeThemLeaves() {
		granted(share("+a"));
		refused(ask("x", this.first));
		refused(member("+b", UNLIMITED, this.second));
		store().leave(StorageKey.of(key()), this.first);
		assertThat(awaited(member("+b", UNLIMITED, this.second))).isFalse();
		granted(share("+c"));
	}

	@Test
	void processWaitsInBothModes() {
		granted(ask("x", null));
		refused(ask("y", this.first));
		refused(member("+a", UNLIMITED, this.first));
		release("x");
		granted(ask("y", this.first));
		release("y");
		refused(ask("z", null));
		granted(member("+a", UNLIMITED, this.first));
	}

	@Test
	void memberThatIsReleasedByAnAcquirePassesTheKeyOn() {
		granted(share("+a"));
		refused(ask("x", this.first));
		refused(member("+b", UNLIMITED, this.second, "+a"));
		holdsNoMore("+a");
		granted(ask("x", this.first));
		release("x");
		granted(member("+b", UNLIMITED, this.second));
		refused(ask("y", this.first));
		refused(ask("z", this.third, "+b"));
		granted(ask("y", this.first));
	}

	@Test
	void forcedReleaseOfAMemberPassesItsPlaceOn() {
		require(Feature.INSPECTION);
		long token = granted(permit("+a", 1));
		refused(member("+b", 1, this.first));
		assertThat(inspection().forceRelease(key(), token)).isTrue();
		refused(permit("+c", 1));
		assertThat(inspection().findStored(key())).as("reserved").isEmpty();
		granted(member("+b", 1, this.first));
	}

	@Test
	void memberIsToldItsPlace() {
		granted(permit("+a", 1));
		assumeTrue(refused(member("+b", 1, this.first)).place() >= 0, "The store tells no place");
		assertThat(refused(member("+c", 1, this.second)).place()).isEqualTo(1);
		assertThat(refused(member("+b", 1, this.first)).place()).isZero();
	}

	@Test
	void requestThatFindsTheQueueBehindMembersFullIsToldThatItHasNoPlace() throws Exception {
		granted(share("+a", Duration.ofHours(1)));
		List<MailboxAddress> queued = fillQueue((mailbox) -> ask("x", mailbox));
		assertThat(refused(ask("x", queued.get(1))).place()).isOne();
		assertThat(refused(member("+b", UNLIMITED, this.first)).place()).isNegative();
		assertThat(refused(share("+c")).place()).as("does not queue").isEqualTo(queued.size());
		store().leave(StorageKey.of(key()), queued.get(0));
		assertThat(refused(member("+b", UNLIMITED, this.first)).place()).isEqualTo(queued.size() - 1);
		assertThat(refused(ask("y", this.second)).place()).isNegative();
	}

	@Test
	void queueOfMembersIsBounded() {
		granted(member("+a", Duration.ofHours(1), 1));
		List<MailboxAddress> crowd = Stream.generate(() -> MailboxAddress.create(Duration.ofMillis(1)))
			.limit(400)
			.toList();
		crowd.forEach((mailbox) -> refused(member("+" + mailbox.value(), 1, mailbox)));
		assertThat(release("+a")).isTrue();
		await().until(() -> permit("+b", 1) instanceof Granted);
	}

	@Test
	void mailboxReceivesThatAPlaceIsReserved() {
		require(Feature.MAILBOX);
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		try (Mailbox mailbox = store().openMailbox(this.first, calls::add)) {
			assertThat(mailbox).isNotNull();
			granted(permit("+a", 2));
			granted(permit("+b", 2));
			refused(member("+c", 2, this.first));
			release("+a");
			await().untilAsserted(() -> assertThat(calls).containsExactly(StorageKey.of(key())));
			granted(member("+c", 2, this.first));
		}
	}

	@Test
	void mailboxReceivesThatAMemberMayFollow() {
		require(Feature.MAILBOX);
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		try (Mailbox mailbox = store().openMailbox(this.second, calls::add)) {
			assertThat(mailbox).isNotNull();
			granted(ask("x", null));
			refused(member("+a", UNLIMITED, this.first));
			refused(member("+b", UNLIMITED, this.second));
			release("x");
			granted(member("+a", UNLIMITED, this.first));
			await().untilAsserted(() -> assertThat(calls).containsExactly(StorageKey.of(key())));
			granted(member("+b", UNLIMITED, this.second));
		}
	}

	@Test
	void mailboxReceivesThatAPlaceIsReservedAgain() {
		require(Feature.MAILBOX);
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		MailboxAddress late = MailboxAddress.create(SOON);
		try (Mailbox mailbox = store().openMailbox(late, calls::add)) {
			assertThat(mailbox).isNotNull();
			reservePlace(late);
			// a mailbox that polls has one message for a process until it queues again
			await().untilAsserted(() -> assertThat(calls).isNotEmpty());
			calls.clear();
			refused(ask("x", late));
			awaitEndOf(SOON);
			release("+b");
			await().untilAsserted(() -> assertThat(calls).containsExactly(StorageKey.of(key())));
		}
	}

	@Test
	void mailboxReceivesThatAMemberMayFollowAProcessWhoseReservedPlaceIsOver() {
		require(Feature.MAILBOX);
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		MailboxAddress late = MailboxAddress.create(SOON);
		try (Mailbox mailbox = store().openMailbox(this.second, calls::add)) {
			assertThat(mailbox).isNotNull();
			reservePlace(late);
			refused(ask("x", late));
			refused(member("+d", 2, this.second));
			awaitEndOf(SOON);
			store().leave(StorageKey.of(key()), late);
			await().untilAsserted(() -> assertThat(calls).containsExactly(StorageKey.of(key())));
		}
	}

	private void reservePlace(MailboxAddress mailbox) {
		granted(permit("+a", 2));
		granted(permit("+b", 2));
		refused(member("+c", 2, mailbox));
		release("+a");
	}

	private static void awaitEndOf(Duration duration) {
		Instant end = Instant.now().plus(duration).plusMillis(50);
		await().until(() -> Instant.now().isAfter(end));
	}

}
