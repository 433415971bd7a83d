package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.PermitRegistry;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoredLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The record of members in Redis. Their rules are in the contract.
 */
class RedisMemberIntegrationTests extends AbstractRedisMemberTests {

	@Test
	void recordIsReadable() {
		long token = granted("+a", LEASE);
		assertThat(record()).containsOnlyKeys("owner", "waiting", "holder", "+a")
			.containsEntry("owner", "+")
			.containsEntry("holder", "holder +a");
		assertThat(record().get("+a")).matches("\\d{16} " + token + " \\d{16} 9 holder \\+a");
	}

	@Test
	void recordExpiresWithTheLongestMember() {
		Duration shorter = LEASE.dividedBy(6);
		Duration later = shorter.multipliedBy(2);
		granted("+long", LEASE);
		granted("+short", shorter);
		assertThat(expiry()).isBetween(shorter.toMillis() + 1, LEASE.toMillis());
		assertThat(this.store.renew(List.of(new RenewCommand(KEY, "+short", later)))).containsOnly(RenewResult.RENEWED);
		assertThat(expiry()).isBetween(later.toMillis() + 1, LEASE.toMillis());
		assertThat(this.store.release(KEY, "+long")).isTrue();
		assertThat(expiry()).isBetween(1L, later.toMillis());
		assertThat(this.store.renew(List.of(new RenewCommand(KEY, "+short", LEASE)))).containsOnly(RenewResult.RENEWED);
		assertThat(expiry()).isBetween(later.toMillis() + 1, LEASE.toMillis());
		// the order in which a script sees them has nothing to do with their ends
		granted("+long", shorter);
		assertThat(expiry()).isBetween(later.toMillis() + 1, LEASE.toMillis());
	}

	@Test
	void leaseOfAMemberIsNeverShortened() {
		long token = granted("+a", LEASE);
		Map<String, String> before = record();
		assertThat(this.store.renew(List.of(new RenewCommand(KEY, "+a", SOON)))).containsOnly(RenewResult.RENEWED);
		assertThat(granted("+a", SOON)).isEqualTo(token);
		assertThat(record()).isEqualTo(before);
		assertThat(expiry()).isGreaterThan(SOON.toMillis());
	}

	@Test
	void nothingIsLeftAfterTheLastExpiry() {
		granted("+a", Duration.ofMillis(200));
		granted("+b", Duration.ofMillis(300));
		ask("+c", Duration.ofMillis(300), 2, this.first);
		Awaitility.await().until(() -> record().isEmpty());
		Long keys = onServer((connection) -> connection.serverCommands().dbSize());
		assertThat(keys).as("the fence").isEqualTo(1);
	}

	@Test
	void memberWhoseLeaseIsOverLeavesNoFieldBehind() {
		untilInTime(() -> {
			granted("+a", Duration.ofSeconds(1));
			granted("+b", Duration.ofSeconds(1));
			granted("+c", LEASE);
			Awaitility.await().until(() -> this.store.inspection().list(10).locks().size() == 1);
			assertThat(record()).containsKeys("+a", "+b");
			assertThat(this.store.renew(List.of(new RenewCommand(KEY, "+a", LEASE)))).containsOnly(RenewResult.REFUSED);
			assertThat(this.store.release(KEY, "+b")).isFalse();
			granted("+d", LEASE);
			assertThat(record()).containsOnlyKeys("owner", "waiting", "holder", "+c", "+d");
			assertThat(this.store.release(KEY, "+c")).isTrue();
			assertThat(record()).containsOnlyKeys("owner", "waiting", "holder", "+d");
			assertThat(this.store.release(KEY, "+d")).isTrue();
			assertThat(record()).isEmpty();
		});
	}

	@Test
	void takenPlaceLeavesNoFieldBehind() {
		granted(ask("+a", LEASE, 1, null));
		assertThat(ask("+b", LEASE, 1, this.first)).isInstanceOf(Refused.class);
		assertThat(this.store.release(KEY, "+a")).isTrue();
		assertThat(record()).containsOnlyKeys("owner", "waiting", this.first.reservationOwner());
		assertThat(expiry()).isBetween(1L, 9000L);
		granted(ask("+b", LEASE, 1, this.first));
		assertThat(record()).containsOnlyKeys("owner", "waiting", "holder", "+b").containsEntry("waiting", "");
	}

	@Test
	void releaseReservesOnePlace() {
		granted(ask("+a", LEASE, 2, null));
		granted(ask("+b", LEASE, 2, null));
		assertThat(ask("+c", LEASE, 2, this.first)).isInstanceOf(Refused.class);
		assertThat(ask("+d", LEASE, 2, this.second)).isInstanceOf(Refused.class);
		assertThat(this.store.release(KEY, "+a")).isTrue();
		assertThat(record())
			.containsOnlyKeys("owner", "waiting", "outlived", "holder", "+b", this.first.reservationOwner())
			.containsEntry("waiting", this.second.value() + "+");
	}

	@Test
	void placeIsReservedForAMemberWhenTheRequestBeforeItLeaves() {
		granted("+a", LEASE);
		assertThat(ask("x", LEASE, 1, this.first)).isInstanceOf(Refused.class);
		assertThat(ask("+b", LEASE, UNLIMITED, this.second)).isInstanceOf(Refused.class);
		this.store.leave(StorageKey.of(KEY), this.first);
		assertThat(record()).containsKey(this.second.reservationOwner()).containsEntry("waiting", "");
	}

	@Test
	void memberThatIsGrantedAfterAnExpiryLeavesTheQueue() {
		untilInTime(() -> {
			granted(ask("+a", SOON, 2, null));
			granted(ask("+b", LEASE, 2, null));
			assertThat(ask("+c", LEASE, 2, this.first)).isInstanceOf(Refused.class);
			Awaitility.await().until(() -> ask("+c", LEASE, 2, this.first) instanceof Granted);
			assertThat(record()).containsOnlyKeys("owner", "waiting", "holder", "+b", "+c")
				.containsEntry("waiting", "");
		});
	}

	private void askedBefore(Duration time) {
		assertThat(record()).containsKey("asked");
		long asked = Long.parseLong(record().get("asked")) - time.toNanos() / 1000;
		onServer((connection) -> connection.hashCommands()
			.hSet(KEYS.lock(), "asked".getBytes(StandardCharsets.UTF_8),
					Long.toString(asked).getBytes(StandardCharsets.UTF_8)));
	}

	@Test
	void memberIsGrantedAgainWhenTheExclusiveRequestAsksNoMore() {
		untilInTime(() -> {
			granted("+a", LEASE);
			assertThat(ask("x", LEASE, 1, this.first)).isInstanceOf(Refused.class);
			assertThat(ask("+b", LEASE, UNLIMITED, this.second)).isInstanceOf(Refused.class);
			assertThat(ask("+c", LEASE, UNLIMITED, this.third)).isInstanceOf(Refused.class);
			askedBefore(Duration.ofSeconds(3));
			assertThat(ask("x", LEASE, 1, this.first)).isInstanceOf(Refused.class);
			askedBefore(Duration.ofSeconds(8));
			assertThat(ask("+b", LEASE, UNLIMITED, this.second)).isInstanceOf(Refused.class);
			askedBefore(Duration.ofSeconds(2));
			assertThat(((Granted) ask("+b", LEASE, UNLIMITED, this.second)).awaited()).isFalse();
			assertThat(record()).containsKeys("+b", this.third.reservationOwner()).containsEntry("waiting", "");
		});
	}

	@Test
	void triesDoNotAskForARequestThatAsksNoMore() {
		granted("+a", LEASE);
		assertThat(ask("x", LEASE, 1, this.first)).isInstanceOf(Refused.class);
		askedBefore(Duration.ofSeconds(11));
		assertThat(ask("y", LEASE, 1, null)).isInstanceOf(Refused.class);
		assertThat(ask("+b", LEASE, UNLIMITED, null)).isInstanceOf(Granted.class);
	}

	/**
	 * An exclusive owner may hold the key for longer than a dead request is waited for.
	 */
	@Test
	void requestsBehindAnExclusiveOwnerNeedNotAsk() {
		granted(ask("x", LEASE, 1, null));
		assertThat(ask("y", LEASE, 1, this.first)).isInstanceOf(Refused.class);
		assertThat(ask("+a", LEASE, UNLIMITED, null)).isInstanceOf(Refused.class);
		assertThat(record()).containsEntry("waiting", this.first.value() + " ").doesNotContainKey("asked");
	}

	@Test
	void refusalNamesAHolderThatIsStillThere() {
		granted("+a", LEASE);
		granted("+b", LEASE);
		assertThat(this.store.release(KEY, "+b")).isTrue();
		assertThat(record()).containsEntry("holder", "holder +a");
		assertThat(ask("x", LEASE, 1, null)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.lock()).extracting(StoredLock::holder).isEqualTo("holder +a"));
		assertThat(ask("+c", LEASE, 1, this.first)).isInstanceOf(Refused.class);
		assertThat(ask("+d", LEASE, 1, this.second)).isInstanceOf(Refused.class);
		assertThat(this.store.release(KEY, "+a")).isTrue();
		assertThat(ask("x", LEASE, 1, null)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.lock()).as("reserved").isNull());
	}

	@Test
	void holderAndReasonAreListedAsTheyWereGiven() {
		String holder = "7 8 9 \n\u0000 host:1 ü";
		String reason = " 1 2 3 '\"\\";
		granted(this.store.acquire(new AcquireCommand(KEY, "+a", LEASE, holder, reason, null, false, null, UNLIMITED)));
		granted(this.store.acquire(new AcquireCommand(KEY, "+b", LEASE, "", "", null, false, null, UNLIMITED)));
		List<StoredLock> locks = this.store.inspection().list(10).locks();
		assertThat(locks).extracting(StoredLock::storageKey).containsOnly(KEY);
		assertThat(locks).extracting(StoredLock::holder).containsExactlyInAnyOrder(holder, "");
		assertThat(locks).extracting(StoredLock::reason).containsExactlyInAnyOrder(reason, "");
	}

	@Test
	void exclusiveLocksNeedAFewCommands() {
		granted("warm-up", LEASE);
		this.store.release(KEY, "warm-up");
		assertThat(commands(() -> granted("x", LEASE)))
			.isEqualTo(Map.of("hmget", 1, "time", 1, "set", 1, "hset", 1, "pexpire", 1));
		assertThat(commands(() -> this.store.renew(List.of(new RenewCommand(KEY, "x", LEASE.multipliedBy(2))))))
			.isEqualTo(Map.of("hmget", 1, "pttl", 1, "pexpire", 1));
		assertThat(commands(() -> this.store.release(KEY, "x"))).isEqualTo(Map.of("hmget", 1, "del", 1));
	}

	@Test
	void membersNeedAFewCommandsWhateverTheirNumber() {
		for (int i = 0; i < 50; i++) {
			granted("+" + i, LEASE);
		}
		assertThat(commands(() -> granted("+a", LEASE)))
			.isEqualTo(Map.of("hgetall", 1, "time", 1, "set", 1, "hset", 1, "pexpire", 1));
		assertThat(commands(() -> this.store.renew(List.of(new RenewCommand(KEY, "+a", LEASE.multipliedBy(2))))))
			.isEqualTo(Map.of("hmget", 1, "time", 1, "hset", 1, "pttl", 1, "pexpire", 1));
		assertThat(commands(() -> this.store.release(KEY, "+1")))
			.isEqualTo(Map.of("hgetall", 1, "time", 1, "hdel", 1, "pexpire", 1));
		assertThat(commands(() -> ask("+b", LEASE, 50, null))).isEqualTo(Map.of("hgetall", 1, "time", 1));
	}

	/**
	 * The commands that the scripts have called meanwhile.
	 */
	private Map<String, Integer> commands(Runnable call) {
		Map<String, Integer> before = commands();
		call.run();
		Map<String, Integer> called = new LinkedHashMap<>(commands());
		before.forEach((name, count) -> called.merge(name, -count, Integer::sum));
		called.values().removeIf((count) -> count == 0);
		return called;
	}

	private Map<String, Integer> commands() {
		Properties statistics = onServer((connection) -> connection.serverCommands().info("commandstats"));
		return statistics.stringPropertyNames()
			.stream()
			.filter((name) -> name.matches("cmdstat_(h\\w+|set|del|time|pttl|pexpire|publish)")
					&& !name.endsWith("hello"))
			.collect(Collectors.toMap((name) -> name.substring("cmdstat_".length()),
					(name) -> Integer.valueOf(statistics.getProperty(name).replaceAll("calls=(\\d+),.*", "$1"))));
	}

	@Test
	void scriptsAreSentAgainAfterTheServerForgotThem() {
		granted("+a", LEASE);
		this.store.acquire(new AcquireCommand("other", "x", LEASE, "holder", ""));
		onServer((connection) -> {
			connection.scriptingCommands().scriptFlush();
			return true;
		});
		List<RenewCommand> both = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			both.add(new RenewCommand(KEY, "+a", LEASE));
			both.add(new RenewCommand("other", "x", LEASE));
		}
		assertThat(this.store.renew(both)).hasSize(200).containsOnly(RenewResult.RENEWED);
	}

	@Test
	void thousandMembersHoldOneLockAtMost() {
		granted("+a", LEASE);
		byte[] member = record().get("+a").getBytes(StandardCharsets.UTF_8);
		Map<byte[], byte[]> members = new LinkedHashMap<>();
		for (int i = 2; i < PermitRegistry.MAX_PERMITS; i++) {
			members.put(("+" + i).getBytes(StandardCharsets.UTF_8), member);
		}
		onServer((connection) -> {
			connection.hashCommands().hMSet(KEYS.lock(), members);
			return true;
		});
		granted(ask("+b", LEASE, PermitRegistry.MAX_PERMITS, null));
		assertThat(ask("+c", LEASE, PermitRegistry.MAX_PERMITS, null)).isInstanceOf(Refused.class);
		assertThat(ask("+c", LEASE, UNLIMITED, null)).isInstanceOf(Refused.class);
	}

	/**
	 * The writer died while it waited behind an exclusive owner, where requests need not
	 * ask.
	 */
	@Test
	void memberIsGrantedAfterADowngradeThoughAWriterIsDead() {
		granted(ask("x", LEASE, 1, null));
		assertThat(ask("y", LEASE, 1, this.first)).isInstanceOf(Refused.class);
		granted(this.store.acquire(new AcquireCommand(KEY, "+x", LEASE, "holder +x", "", null, false, "x", UNLIMITED)));
		assertThat(ask("+a", LEASE, UNLIMITED, this.second)).isInstanceOf(Refused.class);
		askedBefore(Duration.ofSeconds(11));
		assertThat(ask("+a", LEASE, UNLIMITED, this.second)).isInstanceOf(Granted.class);
	}

}
