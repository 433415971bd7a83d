package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.WaitingQueue;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks of members on a database: grants, queues and races for a row.
 */
abstract class AbstractJdbcMemberTests extends AbstractMemberFixture {

	AbstractJdbcMemberTests(TestDatabase database) {
		super(database);
	}

	@Test
	void refusalNamesTheTokenOfTheMemberThatIsNamed() {
		AcquireResult first = acquire("+a");
		granted(acquire("+b"));
		assertThat(this.store.release(this.key, "+b")).isTrue();
		assertThat(acquire(this.store, "x", 1)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.lock()).isNotNull().satisfies((lock) -> {
					assertThat(lock.holder()).isEqualTo("holder +a");
					assertThat(lock.token()).isEqualTo(((Granted) first).token());
				}));
	}

	@Test
	void membersEndWithTheLeaseThatAnOperatorEnds() {
		granted(acquire("+a"));
		update("UPDATE " + this.table + " SET lease_until = acquired_at");
		assertThat(this.store.renew(List.of(new RenewCommand(this.key, "+a", LEASE))))
			.containsOnly(RenewResult.REFUSED);
		granted(acquire(this.store, "x", 1));
	}

	private void askedLongAgo() {
		String members = JdbcClient.create(this.pool)
			.sql("SELECT members FROM " + this.table)
			.query(String.class)
			.single();
		assertThat(members).contains("@");
		update("UPDATE " + this.table + " SET members = '" + members.replaceAll("@.*", "@1") + "'");
	}

	@Test
	void memberIsGrantedAgainWhenTheExclusiveRequestAsksNoMore() {
		MailboxAddress reader = MailboxAddress.create(Duration.ofSeconds(9));
		granted(acquire("+a"));
		AcquireCommand reading = command(this.key, "+b", AcquireCommand.UNLIMITED, reader);
		assertThat(this.store.acquire(command(this.key, "x", 1, this.mailbox))).isInstanceOf(Refused.class);
		assertThat(this.store.acquire(reading)).isInstanceOf(Refused.class);
		askedLongAgo();
		assertThat(this.store.acquire(command(this.key, "x", 1, this.mailbox))).isInstanceOf(Refused.class);
		assertThat(this.store.acquire(reading)).isInstanceOf(Refused.class);
		askedLongAgo();
		granted(this.store.acquire(reading));
		assertThat(this.store
			.renew(List.of(new RenewCommand(this.key, "+a", LEASE), new RenewCommand(this.key, "+b", LEASE))))
			.containsOnly(RenewResult.RENEWED);
	}

	@Test
	void exclusiveRequestThatReplacesOneMemberIsQueuedBehindTheOther() {
		granted(acquire("+a"));
		granted(acquire("+b"));
		assertThat(this.store
			.acquire(new AcquireCommand(this.key, "x", LEASE, "holder x", "", this.mailbox, true, "+a", 1)))
			.isInstanceOfSatisfying(Refused.class, (refused) -> assertThat(refused.lock()).isNotNull());
		assertThat(JdbcClient.create(this.pool).sql("SELECT waiting FROM " + this.table).query(String.class).single())
			.contains(this.mailbox.value());
	}

	@Test
	void requestDoesNotJoinAQueueThatFillsItsColumn() {
		String crowd = "0001abcdefghijkl ".repeat(10_000);
		granted(acquire(this.store, "+a", 1));
		queue(crowd);
		refused(this.store.acquire(command(this.key, "+b", 1, this.mailbox)));
		refused(this.store.acquire(command(this.key, "x", 1, this.mailbox)));
		assertThat(JdbcClient.create(this.pool).sql("SELECT waiting FROM " + this.table).query(String.class).single())
			.isEqualTo(crowd);
	}

	@Test
	void keyThatAnExclusiveOwnerInsertsMeanwhileIsRefused() {
		refused(acquire(interruptedOnce(() -> granted(acquire("x"))), "+a", 5));
		assertThat(renew(this.store, "x")).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void keyThatAMemberInsertsMeanwhileIsShared() {
		granted(acquire(interruptedOnce(() -> granted(acquire("+b"))), "+a", 5));
		assertThat(renew(this.store, "+a")).isEqualTo(RenewResult.RENEWED);
		assertThat(renew(this.store, "+b")).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void freedKeyThatAnExclusiveOwnerTakesMeanwhileIsRefused() {
		granted(acquire("y"));
		this.store.release(this.key, "y");
		refused(acquire(interruptedOnce(() -> granted(acquire("x"))), "+a", 5));
	}

	@Test
	void lastPlaceThatAMemberTakesMeanwhileIsRefused() {
		granted(acquire(this.store, "+a", 2));
		refused(acquire(interruptedOnce(() -> granted(acquire(this.store, "+b", 2))), "+c", 2));
		assertThat(renew(this.store, "+a")).isEqualTo(RenewResult.RENEWED);
		assertThat(renew(this.store, "+b")).isEqualTo(RenewResult.RENEWED);
	}

	/**
	 * Its token is that of the expired lease.
	 */
	@Test
	void exclusiveOwnerThatAcquiresItsExpiredLeaseAgainMeanwhileKeepsIt() {
		acquireAndExpire("x");
		refused(acquire(interruptedOnce(() -> granted(acquire("x"))), "+a", 5));
		assertThat(renew(this.store, "x")).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void exclusiveOwnerThatFollowsExpiredMembersMeanwhileIsNotReplaced() {
		acquireAndExpire("+a");
		refused(acquire(interruptedOnce(() -> granted(acquire("x"))), "+b", 5));
		assertThat(renew(this.store, "+a")).isEqualTo(RenewResult.REFUSED);
		assertThat(this.store.release(this.key, "+a")).isFalse();
		assertThat(renew(this.store, "x")).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void renewalOfAnotherMemberMeanwhileIsNotLost() {
		AcquireCommand longest = new AcquireCommand(this.key, "+a", Duration.ofHours(2), "", "", null, false, null, 5);
		granted(this.store.acquire(longest));
		granted(acquire("+b"));
		RenewCommand renewal = new RenewCommand(this.key, "+b", Duration.ofHours(1));
		granted(acquire(
				interruptedOnce(
						() -> assertThat(this.store.renew(List.of(renewal))).containsExactly(RenewResult.RENEWED)),
				"+c", 5));
		this.store.release(this.key, "+a");
		assertThat(((Refused) acquire("x")).remaining()).isGreaterThan(Duration.ofMinutes(59));
	}

	@Test
	void requestThatQueuesMeanwhileIsSeen() {
		granted(acquire("+a"));
		JdbcLockStore slow = interruptedOnce(
				() -> refused(this.store.acquire(command(this.key, "x", 1, this.mailbox))));
		refused(acquire(slow, "+b", 5));
		assertThat(((Granted) acquire("+a")).awaited()).isTrue();
		this.store.release(this.key, "+a");
		granted(this.store.acquire(command(this.key, "x", 1, this.mailbox)));
	}

	/**
	 * A place in the queue of an exclusive owner changes nothing else of the record.
	 */
	@Test
	void memberThatQueuesTakesNoPlaceFromAnotherRequest() {
		AcquireCommand waiting = command(this.key, "y", 1, this.mailbox);
		granted(acquire("x"));
		refused(queueMember(interruptedOnce(() -> refused(this.store.acquire(waiting)))));
		this.store.release(this.key, "x");
		granted(this.store.acquire(waiting));
	}

	@Test
	void memberThatQueuesGivesNoPlaceBackToARequestThatHasLeft() {
		granted(acquire("x"));
		refused(this.store.acquire(command(this.key, "y", 1, this.mailbox)));
		refused(queueMember(interruptedOnce(() -> this.store.leave(this.key, this.mailbox))));
		this.store.release(this.key, "x");
		refused(this.store.acquire(command(this.key, "y", 1, this.mailbox)));
	}

	private AcquireResult queueMember(JdbcLockStore racing) {
		return racing.acquire(command(this.key, "+a", 5, MailboxAddress.create(Duration.ofSeconds(9))));
	}

	/**
	 * A request that believes to be in the queue waits for a signal that does not come.
	 */
	@Test
	void exclusiveRequestDoesNotQueueBehindMembersThatAreGone() {
		Refused notQueued = new Refused(Duration.ZERO, null);
		granted(acquire("+a"));
		JdbcLockStore late = interruptedOnce(() -> this.store.release(this.key, "+a"));
		assertThat(late.acquire(command(this.key, "x", 1, this.mailbox))).isEqualTo(notQueued);
		granted(acquire("+a"));
		late = interruptedOnce(() -> {
			this.store.release(this.key, "+a");
			granted(acquire("y"));
		});
		assertThat(late.acquire(command(this.key, "x", 1, this.mailbox))).isEqualTo(notQueued);
		this.store.release(this.key, "y");
		granted(acquire("z"));
	}

	@Test
	void exclusiveRequestDoesNotQueueForAKeyThatIsFreeByNow() {
		granted(acquire("x"));
		JdbcLockStore late = interruptedOnce(() -> this.store.release(this.key, "x"));
		assertThat(late.acquire(command(this.key, "y", 1, this.mailbox))).isEqualTo(new Refused(Duration.ZERO, null));
		granted(acquire("x"));
		this.store.release(this.key, "x");
		granted(acquire("z"));
	}

	@Test
	void requestThatComesAtTheEndOfALeaseIsToldOfNoHolder() {
		granted(acquire("x"));
		JdbcLockStore late = interruptedOnce(
				() -> update("UPDATE " + this.table + " SET lease_until = '2000-01-01 00:00:00'"));
		assertThat(late.acquire(command(this.key, "y", 1, this.mailbox))).isEqualTo(new Refused(Duration.ZERO, null));
		granted(acquire("z"));
	}

	@Test
	void requestThatLeavesWhenItsTurnComesKeepsTheKeyFromNoOther() {
		granted(acquire("x"));
		refused(this.store.acquire(command(this.key, "y", 1, this.mailbox)));
		interruptedOnce(() -> this.store.release(this.key, "x")).leave(this.key, this.mailbox);
		granted(acquire("z"));
	}

	/**
	 * The request is queued behind a writer and a reader, and would keep other readers
	 * from the key.
	 */
	@Test
	void requestThatLeavesWhileTheMembersGoKeepsTheKeyFromNoMember() {
		MailboxAddress writer = MailboxAddress.create(Duration.ofSeconds(9));
		MailboxAddress reader = MailboxAddress.create(Duration.ofSeconds(9));
		granted(acquire("+a"));
		queue(WaitingQueue.entry(writer, false), WaitingQueue.entry(reader, true),
				WaitingQueue.entry(this.mailbox, false));
		interruptedOnce("(?s).*owner = (CASE |IF\\()waiting.*", () -> this.store.release(this.key, "+a"))
			.leave(this.key, this.mailbox);
		granted(this.store.acquire(command(this.key, "x", 1, writer)));
		this.store.release(this.key, "x");
		granted(this.store.acquire(command(this.key, "+b", AcquireCommand.UNLIMITED, reader)));
		granted(acquire("+c"));
	}

	/**
	 * The reservation comes after it was to be given up.
	 */
	@Test
	void requestThatLeavesWhenTheMembersHaveGoneKeepsTheKeyFromNoOther() {
		granted(acquire("+a"));
		queue(WaitingQueue.entry(this.mailbox, false));
		interruptedOnce("(?s).*remaining_micros.*", () -> this.store.release(this.key, "+a")).leave(this.key,
				this.mailbox);
		granted(acquire("z"));
	}

}
