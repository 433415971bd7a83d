package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoredLock;
import io.dlock.store.redis.connection.ScriptRun;
import io.dlock.test.MachineWatch;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Long queues in Redis, and those of a key whose lease is over. The rules of a queue are
 * in the contract.
 */
class RedisQueueIntegrationTests extends AbstractRedisMemberTests {

	private static final int ENTRY = MailboxAddress.LENGTH + 1;

	private void crowd(int processes, char mark) {
		StringBuilder waiting = new StringBuilder();
		for (int i = 0; i < processes; i++) {
			waiting.append("9000%012d".formatted(i)).append(mark);
		}
		onServer((connection) -> connection.hashCommands()
			.hSet(KEYS.lock(), bytes("waiting"), bytes(waiting.toString())));
	}

	private static byte[] bytes(String value) {
		return value.getBytes(StandardCharsets.UTF_8);
	}

	private String waiting() {
		return record().getOrDefault("waiting", "");
	}

	private Refused refused(String owner, @Nullable MailboxAddress mailbox) {
		return (Refused) ask(owner, LEASE, 1, mailbox);
	}

	@Test
	void queueHasTenThousandPlaces() {
		granted(ask("a", LEASE, 1, null));
		crowd(9_999, ' ');
		refused("b", this.first);
		refused("c", this.second);
		assertThat(waiting()).hasSize(10_000 * ENTRY).endsWith(this.first.value() + " ");
		assertThat(this.store.release(KEY, "a")).isTrue();
		assertThat(record()).containsEntry("owner", ">9000000000000000");
		refused("c", this.second);
		assertThat(waiting()).hasSize(10_000 * ENTRY).endsWith(this.second.value() + " ");
	}

	@Test
	void membersBehindAnotherFollowInBatches() {
		granted(ask("a", LEASE, 1, null));
		refused("+b", this.first);
		crowd(150, '+');
		onServer((connection) -> connection.hashCommands()
			.hSet(KEYS.lock(), bytes("waiting"), bytes(this.first.value() + "+" + waiting())));
		assertThat(this.store.release(KEY, "a")).isTrue();
		granted(ask("+b", LEASE, UNLIMITED, this.first));
		assertThat(waiting()).hasSize(50 * ENTRY).startsWith("9000000000000100+");
		assertThat(record()).containsKeys(">9000000000000000", ">9000000000000099");
	}

	/**
	 * The second by which the key outlives its lease is no part of the lease.
	 * @param lease the lease, or its rest
	 * @param since a time before the call that began the lease, or that answered the rest
	 */
	private void assertThatLeaseIs(Duration lease, long since) {
		assertThat(refused("x", this.first).remaining())
			.isBetween(lease.minusNanos(System.nanoTime() - since).minusMillis(10), lease);
	}

	private void renew(String owner, Duration lease, RenewResult expected) {
		assertThat(this.store.renew(List.of(new RenewCommand(KEY, owner, lease)))).containsOnly(expected);
	}

	@Test
	void queueOutlivesTheLease() {
		untilInTime(() -> {
			granted(ask("a", LEASE, 1, null));
			refused("b", this.first);
			refused("c", this.second);
			refused("d", this.third);
			end();
			long start = System.nanoTime();
			granted(ask("c", LEASE, 1, this.second));
			assertThatLeaseIs(LEASE, start);
			assertThat(waiting()).isEqualTo(this.first.value() + " " + this.third.value() + " ");
			assertThat(this.store.release(KEY, "a")).isFalse();
			end();
			granted(ask("x", LEASE, 1, null));
			assertThat(this.store.release(KEY, "x")).isTrue();
			assertThat(record()).containsEntry("owner", this.first.reservationOwner())
				.containsEntry("waiting", this.third.value() + " ");
		});
	}

	@Test
	void queueOutlivesAReservation() {
		untilInTime(() -> {
			granted(ask("a", LEASE, 1, null));
			refused("b", this.first);
			refused("c", this.second);
			refused("d", this.third);
			this.store.release(KEY, "a");
			end();
			granted(ask("c", LEASE, 1, this.second));
			assertThat(waiting()).isEqualTo(this.third.value() + " ");
		});
	}

	@Test
	void queueOutlivesMembers() {
		untilInTime(() -> {
			granted("+a", SOON);
			refused("x", this.first);
			assertThat(ask("+b", LEASE, UNLIMITED, this.second)).isInstanceOf(Refused.class);
			renew("+a", SOON.plusMillis(1), RenewResult.RENEWED);
			Awaitility.await().until(() -> ask("x", LEASE, 1, this.first) instanceof Granted);
			assertThat(waiting()).isEqualTo(this.second.value() + "+");
			assertThat(record()).doesNotContainKey("+a");
			assertThat(this.store.release(KEY, "x")).isTrue();
			assertThat(record()).containsKey(this.second.reservationOwner());
		});
	}

	@Test
	void memberAfterALeaseThatIsOverLeavesTheQueue() {
		untilInTime(() -> {
			granted(ask("a", LEASE, 1, null));
			refused("x", this.first);
			assertThat(ask("+b", LEASE, UNLIMITED, this.second)).isInstanceOf(Refused.class);
			end();
			assertThat(((Granted) ask("+b", LEASE, UNLIMITED, this.second)).awaited()).isTrue();
			assertThat(record()).containsOnlyKeys("owner", "waiting", "outlived", "holder", "+b")
				.containsEntry("waiting", this.first.value() + " ");
		});
	}

	@Test
	void lockThatIsOverIsNotHeld() {
		long token = granted(ask("a", LEASE, 1, null));
		refused("b", this.first);
		end();
		assertThat(this.store.find(KEY)).isEmpty();
		assertThat(this.store.inspection().list(10).locks()).isEmpty();
		assertThat(this.store.inspection().forceRelease(StorageKey.of(KEY), token)).isFalse();
		renew("a", LEASE, RenewResult.REFUSED);
		assertThat(this.store.keep(KEY, "a", LEASE)).isFalse();
		assertThat(this.store.raiseToken(KEY, "a", token + 1)).isFalse();
		assertThat(expiry()).isLessThan(1000);
	}

	/**
	 * An operator or another client has removed the expiry.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "b", "+b" })
	void requestThatQueuesEndsNoLockWithoutAnExpiry(String owner) {
		granted(ask("a", LEASE, 1, null));
		onServer((connection) -> connection.keyCommands().persist(KEYS.lock()));
		assertThat(ask(owner, LEASE, 1, null)).isInstanceOf(Refused.class);
		for (int i = 0; i < 2; i++) {
			assertThat(ask(owner, LEASE, 1, this.first)).isInstanceOf(Refused.class);
			assertThat(expiry()).isEqualTo(-1);
		}
		renew("a", LEASE, RenewResult.RENEWED);
		assertThat(expiry()).isPositive();
		assertThat(this.store.release(KEY, "a")).isTrue();
		granted(ask(owner, LEASE, 1, this.first));
	}

	@Test
	void requestThatLeavesAFreeKeyLeavesNothing() {
		this.store.leave(StorageKey.of(KEY), this.first);
		assertThat(record()).isEmpty();
	}

	@Test
	void raisedTokenIsNeverLowered() {
		long token = granted(ask("a", LEASE, 1, null));
		long raised = 4_000_000_000_000_000L;
		assertThat(this.store.raiseToken(KEY, "b", raised)).isFalse();
		assertThat(granted(ask("a", LEASE, 1, null))).isEqualTo(token);
		assertThat(this.store.raiseToken(KEY, "a", raised)).isTrue();
		assertThat(this.store.raiseToken(KEY, "a", token)).isTrue();
		assertThat(granted(ask("a", LEASE, 1, null))).isEqualTo(raised);
		this.store.release(KEY, "a");
		assertThat(granted(ask("b", LEASE, 1, null))).isEqualTo(raised + 1);
		StoredLock holder = Objects.requireNonNull(refused("c", this.first).lock());
		assertThat(holder.token()).isEqualTo(raised + 1);
		assertThat(holder.since()).as("not that of the token").isBefore(Instant.now().plusSeconds(3600));
	}

	@Test
	void leastTokenIsMintedUnlessItIsTooFarAhead() {
		AcquireCommand command = new AcquireCommand(KEY, "a", LEASE, "", "");
		AtomicLong near = new AtomicLong();
		Awaitility.await("token that is at most 10 ms ahead").until(() -> {
			near.set(granted(this.store.acquire(command)) + 9_000);
			this.store.release(KEY, "a");
			boolean minted = granted(this.store.acquire(command, near.get())) == near.get();
			this.store.release(KEY, "a");
			return minted;
		});
		long far = near.get() + Duration.ofHours(1).toMillis() * 1000;
		assertThat(granted(this.store.acquire(command, far))).isBetween(near.get() + 1, far - 1);
		assertThat(granted(this.store.acquire(command, far))).as("repeated").isLessThan(far);
	}

	@Test
	void keyOutlivesTheLeaseIfItHasAQueue() {
		granted(ask("a", LEASE, 1, null));
		assertThat(expiry()).isLessThanOrEqualTo(LEASE.toMillis());
		long queued = System.nanoTime();
		Duration rest = refused("b", this.first).remaining();
		assertThat(rest).isLessThanOrEqualTo(LEASE);
		assertThatLeaseIs(rest, queued);
		assertThatKeyOutlivesTheLease();
		assertThat(expiry()).isLessThanOrEqualTo(LEASE.toMillis() + 1000);
		long renewed = System.nanoTime();
		renew("a", LEASE.multipliedBy(2), RenewResult.RENEWED);
		assertThatLeaseIs(LEASE.multipliedBy(2), renewed);
		assertThat(this.store.find(KEY)).hasValueSatisfying((lock) -> assertThat(lock.until())
			.isBeforeOrEqualTo(lock.since().plus(lock.age()).plus(LEASE.multipliedBy(2))));
		long repeated = System.nanoTime();
		granted(ask("a", LEASE.multipliedBy(3), 1, null));
		assertThatLeaseIs(LEASE.multipliedBy(3), repeated);
		long kept = System.nanoTime();
		assertThat(this.store.keep(KEY, "a", LEASE)).isTrue();
		assertThatKeyOutlivesTheLease();
		assertThatLeaseIs(LEASE, kept);
		assertThat(this.store.release(KEY, LockStore.keptOwner("a"))).isTrue();
		granted(ask("b", LEASE, 1, this.first));
		assertThat(this.store.release(KEY, "b")).isTrue();
		granted(ask("c", LEASE, 1, this.second));
		assertThat(expiry()).isLessThanOrEqualTo(LEASE.toMillis());
		assertThat(record()).doesNotContainKey("outlived");
	}

	/**
	 * On a busy machine the next command may come more than a second later.
	 */
	private void assertThatKeyOutlivesTheLease() {
		MachineWatch.repeatIfLate(() -> {
			Duration rest = refused("c", this.second).remaining();
			assertThat(expiry()).isGreaterThan(rest.toMillis());
		});
	}

	private long exchanged(String owner, String releasing) {
		return granted(this.store
			.acquire(new AcquireCommand(KEY, owner, LEASE, "holder", "", null, false, releasing, UNLIMITED)));
	}

	private void assertThatRecordHasOnly(String... fields) {
		assertThat(record()).containsOnlyKeys(fields);
	}

	@Test
	void recordHasNoFieldOfTheOwnerBefore() {
		String[] exclusive = { "owner", "waiting", "token", "holder", "reason", "since" };
		granted(ask("a", LEASE, 1, null));
		refused("b", this.first);
		this.store.release(KEY, "a");
		assertThatRecordHasOnly("owner", "waiting");
		granted(ask("b", LEASE, 1, this.first));
		refused("c", this.second);
		refused("d", this.third);
		this.store.release(KEY, "b");
		assertThatRecordHasOnly("owner", "waiting", "outlived");
		this.store.leave(StorageKey.of(KEY), this.third);
		granted(ask("c", LEASE, 1, this.second));
		assertThatRecordHasOnly(exclusive);
		exchanged("+d", "c");
		assertThatRecordHasOnly("owner", "waiting", "holder", "+d");
		refused("x", this.first);
		this.store.leave(StorageKey.of(KEY), this.first);
		assertThat(record()).containsKey("asked");
		exchanged("+e", "+d");
		assertThatRecordHasOnly("owner", "waiting", "holder", "+e");
		refused("x", this.first);
		this.store.leave(StorageKey.of(KEY), this.first);
		exchanged("f", "+e");
		assertThatRecordHasOnly(exclusive);
		exchanged("+g", "f");
		refused("x", this.first);
		this.store.release(KEY, "+g");
		assertThatRecordHasOnly("owner", "waiting");
	}

	@Test
	void recordHasNoFieldOfAnOwnerWhoseLeaseIsOver() {
		untilInTime(() -> {
			granted("+a", SOON);
			refused("x", this.first);
			Awaitility.await().until(() -> ask("x", LEASE, 1, this.first) instanceof Granted);
			assertThatRecordHasOnly("owner", "waiting", "token", "holder", "reason", "since");
			refused("y", this.first);
			end();
			granted(ask("+b", LEASE, 1, null));
			assertThatRecordHasOnly("owner", "waiting", "outlived", "holder", "+b");
		});
	}

	/**
	 * The token of an acquire in a microsecond that does not pass.
	 */
	private String tokenOf(String owner) {
		ScriptRun acquire = new RedisAcquire("dlock", new AcquireCommand(KEY, owner, LEASE, "", ""), 0, null)
			.scriptRun();
		String script = """
				local server = redis
				local redis = {pcall = redis.pcall, call = function(name, ...)
				  return name == 'TIME' and {'1700000000', '42'} or server.call(name, ...)
				end}
				""" + text(acquire.script(false));
		List<?> answer = onServer((connection) -> connection.scriptingCommands()
			.eval(bytes(script), acquire.returnType(), acquire.keys(), acquire.keysAndArgs()));
		return text((byte[]) answer.get(1));
	}

	/**
	 * Tokens of a server that has lost its data are such times.
	 */
	@Test
	void r12MicrosecondsHaveSixDigits() {
		assertThat(tokenOf("a")).isEqualTo("1700000000000042");
	}

	@Test
	void r11TokensOfTheSameMicrosecondDiffer() {
		assertThat(tokenOf("a")).isEqualTo("1700000000000042");
		assertThat(this.store.release(KEY, "a")).isTrue();
		assertThat(tokenOf("b")).isEqualTo("1700000000000043");
	}

}
