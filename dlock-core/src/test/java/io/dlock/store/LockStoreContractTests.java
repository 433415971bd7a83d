package io.dlock.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of every store. A backend is finished when a subclass of this class passes
 * on the real server.
 */
public abstract class LockStoreContractTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final Duration SHORT = Duration.ofMillis(300);

	private LockStore store;

	private String key;

	/**
	 * Create the store under test.
	 * @return a store that nothing else uses
	 */
	protected abstract LockStore createStore() throws Exception;

	/**
	 * Remove everything the store has stored, behind its back.
	 */
	protected abstract void loseEverything() throws Exception;

	/**
	 * Change the last token of the key, as if it had been minted when the clock was
	 * ahead.
	 */
	protected abstract void setLastToken(long token) throws Exception;

	@BeforeEach
	void createStoreAndKey() throws Exception {
		this.store = createStore();
		this.key = "contract/" + UUID.randomUUID();
	}

	@AfterEach
	void closeStore() {
		this.store.close();
	}

	protected final LockStore store() {
		return this.store;
	}

	protected final String key() {
		return this.key;
	}

	@Test
	void verifyAcceptsAWorkingStore() {
		this.store.verify();
		this.store.verify();
		assertThat(this.store.describe()).isNotBlank().doesNotContain("password");
	}

	@Test
	void freeKeyIsGranted() {
		assertThat(acquire("a", LEASE)).isInstanceOf(Granted.class);
	}

	@Test
	void r40HeldKeyIsRefusedAndTheAnswerTellsTheHolder() {
		acquire("a", LEASE);
		AcquireResult result = acquire("b", LEASE);
		assertThat(result).isInstanceOfSatisfying(Refused.class, (refused) -> {
			assertThat(refused.remaining()).isBetween(Duration.ofSeconds(10), LEASE);
			assertThat(refused.holder()).isEqualTo("holder a");
		});
	}

	@Test
	void r23b9AcquireIsIdempotentByOwnerWithTheSameToken() {
		long token = granted(acquire("a", LEASE));
		assertThat(granted(acquire("a", LEASE))).isEqualTo(token);
		assertThat(this.store.release(this.key, "a")).isTrue();
		assertThat(acquire("b", LEASE)).as("one release undoes a replayed acquire (B9)").isInstanceOf(Granted.class);
	}

	@Test
	void r23RepeatedAcquireStartsTheLeaseAnew() {
		acquire("a", SHORT);
		acquire("a", LEASE);
		assertThat(acquire("b", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining()).isGreaterThan(Duration.ofSeconds(10)));
	}

	/**
	 * A request whose answer was lost may be repeated, or arrive, when the lease was
	 * renewed.
	 */
	@Test
	void r6RepeatedAcquireNeverShortensTheLease() {
		long token = granted(acquire("a", SHORT));
		renew("a", LEASE);
		assertThat(granted(acquire("a", SHORT))).isEqualTo(token);
		assertThat(acquire("b", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining()).isGreaterThan(Duration.ofSeconds(10)));
	}

	@Test
	void leaseOfANewOwnerIsItsOwnHoweverLongTheOneBeforeWas() {
		acquire("a", Duration.ofHours(1));
		granted(this.store.acquire(new AcquireCommand(this.key, "b", LEASE, "holder b", "", null, false, "a")));
		assertThat(acquire("c", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining()).isBetween(Duration.ofSeconds(10), LEASE));
		this.store.release(this.key, "b");
		acquire("d", Duration.ofHours(1));
		this.store.release(this.key, "d");
		acquire("e", LEASE);
		assertThat(acquire("c", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining()).isBetween(Duration.ofSeconds(10), LEASE));
	}

	@Test
	void r11TokensRiseFromOwnerToOwner() {
		long last = 0;
		for (int i = 0; i < 20; i++) {
			long token = granted(acquire("owner-" + i, LEASE));
			assertThat(token).isGreaterThan(last);
			last = token;
			this.store.release(this.key, "owner-" + i);
		}
	}

	@Test
	void r12TokensRiseAfterTheStoreLostItsData() throws Exception {
		long before = granted(acquire("a", LEASE));
		loseEverything();
		assertThat(granted(acquire("b", LEASE))).isGreaterThan(before);
	}

	@Test
	void r12TokensAreMicrosecondsOfTheClock() {
		long token = granted(acquire("a", LEASE));
		assertThat(Instant.ofEpochSecond(token / 1_000_000)).isBetween(Instant.now().minusSeconds(3600),
				Instant.now().plusSeconds(3600));
	}

	/**
	 * The clock may be behind the last token as long as that is known.
	 */
	@Test
	void r14TokensRiseThoughTheClockIsBehindTheLastOne() throws Exception {
		granted(acquire("a", LEASE));
		this.store.release(this.key, "a");
		long future = 4_000_000_000_000_000L;
		setLastToken(future);
		assertThat(granted(acquire("b", LEASE))).isEqualTo(future + 1);
		this.store.release(this.key, "b");
		assertThat(granted(acquire("c", LEASE))).isEqualTo(future + 2);
	}

	@Test
	void b11b12b13LeaseThatIsOverIsGrantedToTheNextAndItsHolderChangesNothing() {
		long first = granted(acquire("a", SHORT));
		long second = Awaitility.await().pollInterval(Duration.ofMillis(20)).until(() -> {
			return (acquire("b", LEASE) instanceof Granted granted) ? granted.token() : 0L;
		}, (token) -> token > 0);
		assertThat(second).isGreaterThan(first);
		assertThat(this.store.release(this.key, "a")).as("B11, B12: a stale holder frees nothing").isFalse();
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		assertThat(acquire("c", LEASE)).isInstanceOf(Refused.class);
	}

	@Test
	void r16ReleaseByAnotherOwnerChangesNothing() {
		acquire("a", LEASE);
		assertThat(this.store.release(this.key, "b")).isFalse();
		assertThat(this.store.release(this.key, "")).isFalse();
		assertThat(acquire("c", LEASE)).isInstanceOf(Refused.class);
	}

	@Test
	void releaseFreesAtOnceAndOnlyOnce() {
		acquire("a", LEASE);
		assertThat(this.store.release(this.key, "a")).isTrue();
		assertThat(this.store.release(this.key, "a")).isFalse();
		assertThat(acquire("b", LEASE)).isInstanceOf(Granted.class);
	}

	@Test
	void releaseOfAFreeKeyIsNoError() {
		assertThat(this.store.release(this.key, "a")).isFalse();
	}

	@Test
	void findReturnsHolderReasonAndTimes() {
		assertThat(this.store.find(this.key)).isEmpty();
		long token = granted(acquire("a", LEASE));
		assertThat(this.store.find(this.key)).hasValueSatisfying((lock) -> {
			assertThat(lock.holder()).isEqualTo("holder a");
			assertThat(lock.reason()).isEqualTo("because ä 🔒 '; --");
			assertThat(lock.token()).isEqualTo(token);
			assertThat(Duration.between(lock.since(), lock.until())).isBetween(LEASE.minusMillis(50),
					LEASE.plusSeconds(1));
			assertThat(lock.storageKey()).isEqualTo(StorageKey.of(this.key));
		});
		this.store.release(this.key, "a");
		assertThat(this.store.find(this.key)).isEmpty();
	}

	static List<String> hostileKeys() {
		return List.of("a b", "a\u0000b", "a\r\nSET x y", "a'; DROP TABLE dlock_lock; --", "{a}", "}{", "a%20b", "*",
				"日本語のキー", "🔒🔑", "ä", "\ud800", "x".repeat(10_000), "é".repeat(10_000), "$1 ?1 :p", "a\\b\"c",
				"\u202e\u200b");
	}

	@ParameterizedTest
	@MethodSource("hostileKeys")
	void r53KeyOfAnyCharactersAndLength(String suffix) {
		this.key = this.key + suffix;
		long token = granted(acquire("a", LEASE));
		assertThat(acquire("b", LEASE)).isInstanceOf(Refused.class);
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.RENEWED);
		assertThat(this.store.find(this.key)).hasValueSatisfying((lock) -> {
			assertThat(lock.token()).isEqualTo(token);
			assertThat(lock.storageKey()).hasSizeLessThanOrEqualTo(StorageKey.MAX_LENGTH)
				.satisfies((stored) -> assertThat(StandardCharsets.US_ASCII.newEncoder().canEncode(stored)).isTrue());
		});
		assertThat(this.store.release(this.key, "a")).isTrue();
	}

	@Test
	void r41KeysThatLookAlikeAreDifferentLocks() {
		List<String> lookAlikes = List.of("cafe", "CAFE", "café", "cafe\u0301", "cafe ", "cafe  ", " cafe", "cafe\t",
				"{cafe}", "{cafe", "ca{fe}", "cafe\u0000", "ｃａｆｅ", "cafe%20", "straße", "strasse",
				"x".repeat(2000) + "a", "x".repeat(2000) + "b", "x".repeat(2000) + "\u0141",
				"x".repeat(2000) + "\u0241", "\ud800", "\udc00", "?");
		for (String lookAlike : lookAlikes) {
			assertThat(this.store.acquire(new AcquireCommand(this.key + lookAlike, "owner", LEASE, "holder", "reason")))
				.as(lookAlike)
				.isInstanceOf(Granted.class);
			assertThat(this.store.acquire(new AcquireCommand(this.key + lookAlike, "other", LEASE, "holder", "reason")))
				.as(lookAlike)
				.isInstanceOf(Refused.class);
		}
		Set<String> stored = new HashSet<>();
		lookAlikes.forEach((lookAlike) -> stored.add(StorageKey.of(this.key + lookAlike)));
		assertThat(stored).hasSameSizeAs(lookAlikes);
	}

	@Test
	void r38r44RaceForANewKeyHasOneWinner() throws Exception {
		race(60, 8, (round) -> {
		});
	}

	@Test
	void r38r44RaceForAFreedKeyHasOneWinner() throws Exception {
		race(60, 8, (round) -> {
			this.store.acquire(new AcquireCommand(roundKey(round), "before", LEASE, "holder", ""));
			this.store.release(roundKey(round), "before");
		});
	}

	@Test
	void r38r44RaceForAKeyWhoseLeaseIsOverHasOneWinner() throws Exception {
		race(20, 8, (round) -> {
			this.store.acquire(new AcquireCommand(roundKey(round), "before", Duration.ofMillis(5), "holder", ""));
			Awaitility.await()
				.pollInterval(Duration.ofMillis(2))
				.until(() -> this.store.find(roundKey(round)).isEmpty());
		});
	}

	private String roundKey(int round) {
		return this.key + "/" + round;
	}

	private void race(int rounds, int contenders, IntConsumer prepare) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(contenders);
		try {
			CyclicBarrier start = new CyclicBarrier(contenders);
			for (int round = 0; round < rounds; round++) {
				prepare.accept(round);
				String contended = roundKey(round);
				List<Callable<AcquireResult>> calls = new ArrayList<>();
				for (int i = 0; i < contenders; i++) {
					String owner = "contender-" + i;
					calls.add(() -> {
						start.await();
						return this.store.acquire(new AcquireCommand(contended, owner, LEASE, owner, ""));
					});
				}
				int winners = 0;
				for (Future<AcquireResult> result : threads.invokeAll(calls)) {
					winners += (result.get() instanceof Granted) ? 1 : 0;
				}
				assertThat(winners).as("winners of round " + round).isEqualTo(1);
			}
		}
		finally {
			threads.shutdownNow();
			assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
		}
	}

	/**
	 * A deliberately unprotected counter, as ShedLock's fuzz test has it: a lock that
	 * does not exclude loses counts.
	 */
	@Test
	void nothingIsLostUnderContention() throws Exception {
		int threadCount = 8;
		int each = 25;
		int[] counter = new int[1];
		List<Long> tokens = new ArrayList<>();
		ExecutorService threads = Executors.newFixedThreadPool(threadCount);
		try {
			List<Callable<Void>> calls = new ArrayList<>();
			for (int i = 0; i < threadCount; i++) {
				String prefix = "t" + i + "-";
				calls.add(() -> {
					for (int n = 0; n < each; n++) {
						count(prefix + n, counter, tokens);
					}
					return null;
				});
			}
			for (Future<Void> result : threads.invokeAll(calls)) {
				result.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(counter[0]).isEqualTo(threadCount * each);
		assertThat(tokens).hasSize(threadCount * each).isSorted().doesNotHaveDuplicates();
	}

	private void count(String owner, int[] counter, List<Long> tokens) {
		AcquireResult result = acquire(owner, LEASE);
		while (!(result instanceof Granted)) {
			Thread.onSpinWait();
			result = acquire(owner, LEASE);
		}
		int read = counter[0];
		Thread.onSpinWait();
		counter[0] = read + 1;
		tokens.add(granted(result));
		assertThat(this.store.release(this.key, owner)).isTrue();
	}

	protected final AcquireResult acquire(String owner, Duration lease) {
		return this.store.acquire(new AcquireCommand(this.key, owner, lease, "holder " + owner, "because ä 🔒 '; --"));
	}

	protected final RenewResult renew(String owner, Duration lease) {
		return this.store.renew(List.of(renewal(owner, lease))).get(0);
	}

	final RenewCommand renewal(String owner, Duration lease) {
		return new RenewCommand(this.key, owner, lease);
	}

	protected static long granted(AcquireResult result) {
		assertThat(result).isInstanceOf(Granted.class);
		return ((Granted) result).token();
	}

}
