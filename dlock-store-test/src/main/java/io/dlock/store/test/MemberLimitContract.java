package io.dlock.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.function.IntFunction;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A key has as many members as the limit of a request allows, or an exclusive owner, also
 * when one takes the place of the other.
 */
abstract class MemberLimitContract extends MemberPart {

	private static final int CONTENDERS = 8;

	MemberLimitContract(LockStoreContract contract) {
		super(contract);
	}

	@Test
	void limitIsTheNumberOfMembers() {
		granted(permit("+a", 2));
		granted(permit("+b", 2));
		assertThat(refused(permit("+c", 2)).remaining()).isBetween(Duration.ofMillis(1), LEASE);
		assertThat(release("+a")).isTrue();
		granted(permit("+c", 2));
		refused(permit("+a", 2));
	}

	@Test
	void refusalTellsWhenTheNextPermitEnds() {
		granted(member("+a", Duration.ofHours(1), 2));
		granted(permit("+b", 2));
		assertThat(refused(permit("+c", 2)).remaining()).isBetween(LONG, LEASE);
	}

	@Test
	void limitChangesWhileMembersHoldTheKey() {
		for (int i = 1; i <= 5; i++) {
			granted(permit("+" + i, 5));
		}
		refused(permit("+6", 3));
		for (int i = 1; i <= 5; i++) {
			holds("+" + i);
		}
		release("+1");
		release("+2");
		refused(permit("+6", 3));
		release("+3");
		granted(permit("+6", 3));
		refused(permit("+7", 3));
		granted(permit("+7", 5));
		granted(permit("+8", 5));
		refused(permit("+9", 5));
	}

	@Test
	void memberIsReplacedByAnExclusiveOwner() {
		granted(share("+a"));
		granted(ask("x", null, "+a"));
		holdsNoMore("+a");
		release("x");
		granted(share("+a"));
		granted(share("+b"));
		refused(ask("x", null, "+a"));
		holdsNoMore("+a");
		holds("+b");
	}

	@Test
	void memberIsReplacedByAMember() {
		granted(permit("+a", 1));
		granted(member("+b", 1, null, "+a"));
		holdsNoMore("+a");
		refused(permit("+c", 1));
		assertThat(release("+b")).isTrue();
		granted(permit("+c", 1));
	}

	@Test
	void exclusiveOwnerBecomesAMember() {
		long exclusive = granted(acquire("x", Duration.ofHours(1)));
		long token = granted(member("+a", UNLIMITED, null, "x"));
		assertThat(token).isGreaterThan(exclusive);
		holdsNoMore("x");
		assertThat(release("x")).isFalse();
		assertThat(remaining()).as("the lease of the member").isBetween(LONG, LEASE);
		assertThat(granted(member("+a", UNLIMITED, null, "x"))).as("after a lost reply").isEqualTo(token);
		granted(share("+b"));
		assertThat(release("+b")).isTrue();
		assertThat(release("+a")).isTrue();
		granted(acquire("y", LEASE));
	}

	@Test
	void onlyTheExclusiveHolderBecomesAMember() {
		granted(acquire("x", LEASE));
		refused(member("+a", UNLIMITED, null, "y"));
		holds("x");
		granted(member("+a", UNLIMITED, null, "x"));
	}

	@Test
	void memberTakesNoPlaceThatAnExclusiveOwnerHasLost() {
		granted(acquire("x", LEASE));
		release("x");
		refused(member("+a", UNLIMITED, null, "x"));
		granted(acquire("y", LEASE));
		release("y");
		assertThat(refused(member("+a", UNLIMITED, null, "x")).remaining()).isZero();
		holdsNoMore("+a");
		granted(share("+b"));
		refused(member("+a", UNLIMITED, null, "x"));
		long token = granted(share("+a"));
		assertThat(granted(member("+a", UNLIMITED, null, "x"))).as("of one that holds the key").isEqualTo(token);
		assertThat(release("+b")).isTrue();
		assertThat(release("+a")).isTrue();
		granted(acquire("y", LEASE));
	}

	@Test
	void memberTakesNoPlaceOfAnExclusiveOwnerWhoseLeaseIsOver() {
		granted(acquire("x", shortLease()));
		await().until(() -> find().isEmpty());
		assertThat(refused(member("+a", UNLIMITED, null, "x")).remaining()).isZero();
		holdsNoMore("+a");
		granted(share("+a"));
	}

	@Test
	void memberThatHoldsTheKeyReleasesAnother() {
		granted(share("+a"));
		long token = granted(share("+b"));
		assertThat(granted(member("+b", UNLIMITED, null, "+a"))).isEqualTo(token);
		holdsNoMore("+a");
		holds("+b");
	}

	@Test
	void raceForPermitsGrantsAsManyAsTheLimit() throws Exception {
		for (int round = 0; round < 10; round++) {
			String contended = key() + "/" + round;
			assertThat(race(contended, (i) -> "+" + i, 3)).filteredOn((result) -> result instanceof Granted).hasSize(3);
		}
	}

	@Test
	void raceOfBothModesGrantsOneOfThem() throws Exception {
		for (int round = 0; round < 20; round++) {
			List<AcquireResult> results = race(key() + "/" + round, (i) -> (i % 2 == 0) ? "+" + i : "x" + i, UNLIMITED);
			int members = 0;
			int owners = 0;
			for (int i = 0; i < CONTENDERS; i++) {
				boolean granted = results.get(i) instanceof Granted;
				members += (granted && i % 2 == 0) ? 1 : 0;
				owners += (granted && i % 2 == 1) ? 1 : 0;
			}
			assertThat(members).as("%d exclusive owners", owners).isEqualTo((owners == 1) ? 0 : CONTENDERS / 2);
			assertThat(owners).isLessThan(2);
		}
	}

	private List<AcquireResult> race(String contended, IntFunction<String> owner, int limit) throws Exception {
		CyclicBarrier start = new CyclicBarrier(CONTENDERS);
		List<Callable<AcquireResult>> calls = new ArrayList<>();
		for (int i = 0; i < CONTENDERS; i++) {
			AcquireCommand command = new AcquireCommand(contended, owner.apply(i), LEASE, "holder", "", null, false,
					null, limit);
			calls.add(() -> {
				start.await();
				return store().acquire(command);
			});
		}
		return inThreads(CONTENDERS, calls);
	}

}
