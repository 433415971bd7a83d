package io.dlock.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoredLock;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Members hold a key together, each with a lease and a token of its own.
 */
abstract class MemberContract extends MemberPart {

	MemberContract(LockStoreContract contract) {
		super(contract);
	}

	@Test
	void severalMembersHoldAKeyAndExcludeAnExclusiveOwner() {
		assertThat(awaited(share("+a"))).isFalse();
		assertThat(awaited(share("+b"))).isFalse();
		assertThat(find()).isPresent();
		refused(acquire("x", LEASE));
		assertThat(release("+a")).isTrue();
		refused(acquire("x", LEASE));
		holds("+b");
		assertThat(release("+b")).isTrue();
		assertThat(find()).isEmpty();
		granted(acquire("x", LEASE));
	}

	@Test
	void exclusiveOwnerExcludesMembers() {
		granted(acquire("x", LEASE));
		assertThat(refused(share("+a"))).satisfies((refused) -> {
			assertThat(refused.remaining()).isBetween(LONG, LEASE);
			assertThat(refused.lock()).extracting(StoredLock::holder).isEqualTo("holder x");
		});
		holds("x");
		release("x");
		granted(share("+a"));
	}

	@Test
	void refusalByALockThatIsKeptNamesNoHolder() {
		require(Feature.KEEP);
		granted(acquire("x", LEASE));
		assertThat(store().keep(key(), "x", LEASE)).isTrue();
		assertThat(refused(share("+a")).lock()).isNull();
	}

	@Test
	void refusalNamesAMemberThatHoldsTheKey() {
		long token = granted(share("+a", Duration.ofHours(1)));
		granted(share("+b"));
		granted(share("+c"));
		release("+c");
		StoredLock longest = Objects.requireNonNull(refused(permit("+d", 2)).lock());
		assertThat(longest.holder()).isEqualTo("holder +a");
		assertThat(longest.token()).isEqualTo(token);
		assertEndsLate(longest);
		StoredLock member = Objects.requireNonNull(refused(acquire("x", LEASE)).lock());
		assertThat(member.holder()).isIn("holder +a", "holder +b");
		assertThat(member.member()).isTrue();
		assertEndsLate(member);
		release("+b");
		StoredLock last = Objects.requireNonNull(refused(acquire("x", LEASE)).lock());
		assertThat(last.holder()).isEqualTo("holder +a");
		assertThat(last.token()).isEqualTo(token);
	}

	private static void assertEndsLate(StoredLock lock) {
		assertThat(Duration.between(lock.since(), lock.until())).isGreaterThan(Duration.ofMinutes(59));
	}

	@Test
	void keyIsTakenUntilTheLongestMemberEnds() {
		granted(share("+a", Duration.ofHours(1)));
		granted(share("+b"));
		assertThat(remaining()).isGreaterThan(Duration.ofMinutes(59));
		release("+a");
		assertThat(remaining()).isBetween(LONG, LEASE);
		granted(share("+c", Duration.ofMillis(1)));
		assertThat(remaining()).isBetween(LONG, LEASE);
	}

	@Test
	void exclusiveOwnerFollowsTheLastMemberThatExpires() {
		long first = granted(share("+a", shortLease()));
		long second = granted(share("+b", shortLease()));
		long third = await().until(() -> (acquire("x", LEASE) instanceof Granted granted) ? granted.token() : 0L,
				(token) -> token > 0);
		assertThat(List.of(first, second, third)).isSorted().doesNotHaveDuplicates();
		holdsNoMore("+a");
		assertThat(release("+b")).isFalse();
		holds("x");
	}

	@Test
	void memberThatExpiredIsNeitherRenewedNorReleasedAndFreesItsPlace() {
		granted(member("+a", shortLease(), 2));
		granted(permit("+b", 2));
		await().until(() -> permit("+c", 2) instanceof Granted);
		holdsNoMore("+a");
		assertThat(release("+a")).isFalse();
		refused(permit("+d", 2));
		holds("+b");
		holds("+c");
	}

	@Test
	void membersLeftBehindByAnExclusiveOwnerHoldNothing() {
		granted(share("+a", shortLease()));
		await().until(() -> acquire("x", LEASE) instanceof Granted);
		assertThat(release("x")).isTrue();
		holdsNoMore("+a");
		granted(permit("+b", 1));
		holdsNoMore("+a");
	}

	@Test
	void r23MemberIsIdempotentByOwner() {
		long token = granted(share("+a", Duration.ofHours(1)));
		granted(share("+b"));
		assertThat(granted(share("+a"))).isEqualTo(token);
		assertThat(remaining()).as("a repeated acquire does not shorten").isGreaterThan(Duration.ofMinutes(59));
		assertThat(granted(permit("+a", 1))).as("beyond the limit").isEqualTo(token);
		release("+b");
		assertThat(release("+a")).isTrue();
		assertThat(release("+a")).isFalse();
		granted(acquire("x", LEASE));
	}

	@Test
	void r23RepeatedAcquireOfAMemberLengthensItsLease() {
		granted(share("+a"));
		granted(share("+a", Duration.ofHours(1)));
		assertThat(remaining()).isGreaterThan(Duration.ofMinutes(59));
	}

	@Test
	void r11TokensRiseOverBothModes() {
		List<Long> tokens = new ArrayList<>();
		for (int round = 0; round < 3; round++) {
			tokens.add(granted(acquire("x", LEASE)));
			release("x");
			tokens.add(granted(share("+a")));
			tokens.add(granted(share("+b")));
			tokens.add(granted(permit("+c", 3)));
			List.of("+b", "+c", "+a").forEach((owner) -> assertThat(release(owner)).isTrue());
		}
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
	}

	@Test
	void r14TokensOfMembersRiseThoughTheClockIsBehindTheLastOne() throws Exception {
		granted(acquire("x", LEASE));
		release("x");
		long future = 4_000_000_000_000_000L;
		contract().setLastToken(future);
		assertThat(granted(share("+a"))).isEqualTo(future + 1);
		assertThat(granted(share("+b"))).isEqualTo(future + 2);
		release("+a");
		release("+b");
		assertThat(granted(acquire("x", LEASE))).isEqualTo(future + 3);
	}

	@Test
	void r12TokensRiseAfterTheStoreLostItsMembers() throws Exception {
		long before = granted(share("+a"));
		contract().loseEverything();
		holdsNoMore("+a");
		assertThat(granted(acquire("x", LEASE))).isGreaterThan(before);
	}

	@Test
	void r16RenewalConcernsOneMember() {
		granted(share("+a"));
		assertThat(renew("+b", Duration.ofHours(1))).isEqualTo(RenewResult.REFUSED);
		assertThat(renew("a", Duration.ofHours(1))).isEqualTo(RenewResult.REFUSED);
		assertThat(remaining()).isLessThanOrEqualTo(LEASE);
		assertThat(renew("+a", Duration.ofHours(1))).isEqualTo(RenewResult.RENEWED);
		assertThat(remaining()).isGreaterThan(Duration.ofMinutes(59));
		assertThat(renew("+a", shortLease())).as("does not shorten").isEqualTo(RenewResult.RENEWED);
		assertThat(remaining()).isGreaterThan(Duration.ofMinutes(59));
	}

	@Test
	void membersAndExclusiveOwnersAreRenewedTogetherInOrder() {
		granted(share("+a"));
		granted(share("+b"));
		release("+b");
		String other = key() + "/other";
		granted(acquire(other, "x", LEASE));
		assertThat(store().renew(List.of(renewal("+a", LEASE), new RenewCommand(other, "x", LEASE),
				renewal("+b", LEASE), new RenewCommand(other, "+a", LEASE), renewal("+a", Duration.ofHours(1)))))
			.containsExactly(RenewResult.RENEWED, RenewResult.RENEWED, RenewResult.REFUSED, RenewResult.REFUSED,
					RenewResult.RENEWED);
		assertThat(remaining()).isGreaterThan(Duration.ofMinutes(59));
	}

	/**
	 * As an older version would try that sees the owner of the record.
	 */
	@Test
	void r16ReleaseByAnotherOwnerLeavesTheMembers() {
		granted(share("+a"));
		granted(share("+b"));
		for (String stranger : List.of("+c", "a", "", "+", ">", "~a")) {
			assertThat(release(stranger)).as("release by '%s'", stranger).isFalse();
			assertThat(renew(stranger, LEASE)).as("renewal by '%s'", stranger).isEqualTo(RenewResult.REFUSED);
		}
		refused(ask("x", null, "+c"));
		holds("+a");
		holds("+b");
	}

	@Test
	void memberIsNotKeptAfterItsRelease() {
		granted(share("+a"));
		assertThat(store().keep(key(), "+a", LEASE)).isFalse();
		holds("+a");
	}

	@Test
	void r55EachMemberIsListed() {
		require(Feature.INSPECTION);
		long first = granted(share("+a", Duration.ofHours(1)));
		long second = granted(share("+b"));
		List<StoredLock> listed = inspection().list(10_000)
			.locks()
			.stream()
			.filter((lock) -> lock.storageKey().equals(key()))
			.toList();
		assertThat(listed).extracting(StoredLock::token).containsExactlyInAnyOrder(first, second);
		assertThat(listed).extracting(StoredLock::holder).containsExactlyInAnyOrder("holder +a", "holder +b");
		assertThat(listed).extracting(StoredLock::reason).containsOnly(REASON);
		assertThat(listed).allSatisfy((lock) -> {
			Duration lease = (lock.token() == first) ? Duration.ofHours(1) : LEASE;
			assertThat(Duration.between(lock.since(), lock.until())).isBetween(lease.minusSeconds(1),
					lease.plusSeconds(1));
			assertThat(lock.kept()).isFalse();
			assertThat(lock.member()).isTrue();
			assertThat(lock.age()).isBetween(Duration.ZERO, LEASE);
		});
		assertThat(inspection().findAll(key())).extracting(StoredLock::token).containsExactlyInAnyOrder(first, second);
		assertThat(inspection().findStored(key())).get()
			.extracting(StoredLock::token)
			.isIn(listed.stream().map(StoredLock::token).toList());
	}

	@Test
	void r55ListOfMembersIsBounded() {
		require(Feature.INSPECTION);
		List.of("+a", "+b", "+c").forEach((owner) -> granted(share(owner)));
		assertThat(inspection().list(1).locks()).hasSize(1);
		assertThat(inspection().list(1).complete()).isFalse();
	}

	@Test
	void r55ForcedReleaseConcernsOneMember() {
		require(Feature.INSPECTION);
		long first = granted(share("+a"));
		long second = granted(share("+b"));
		assertThat(inspection().forceRelease(key(), 0)).isFalse();
		assertThat(inspection().forceRelease(key(), second)).isTrue();
		assertThat(inspection().forceRelease(key(), second)).isFalse();
		holdsNoMore("+b");
		holds("+a");
		assertThat(inspection().forceRelease(key(), first)).isTrue();
		assertThat(granted(acquire("x", LEASE))).isGreaterThan(second);
	}

	@Test
	void manyMembersShareAKey() {
		List<RenewCommand> all = new ArrayList<>();
		for (int i = 0; i < 60; i++) {
			granted(share("+" + i));
			all.add(renewal("+" + i, LEASE));
		}
		assertThat(store().renew(all)).containsOnly(RenewResult.RENEWED);
		all.forEach((member) -> assertThat(release(member.owner())).isTrue());
		granted(acquire("x", LEASE));
	}

}
