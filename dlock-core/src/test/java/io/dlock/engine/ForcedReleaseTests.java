package io.dlock.engine;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockLostException;
import io.dlock.LockSet;
import io.dlock.console.ForcedRelease;
import io.dlock.console.LockConsole;
import io.dlock.console.LockList;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Locks that an operator releases, one by one or all of an instance.
 */
class ForcedReleaseTests extends AbstractHandOffTests {

	private final LockConsole console = this.registry.console();

	private void holdElsewhere(String key, String holder) {
		this.store.memory.acquire(new AcquireCommand(key, "owner of " + key, LEASE, holder, ""));
	}

	@Test
	void r55AllLocksOfADeadInstanceAreReleased() {
		holdElsewhere("a", "dead [main]");
		holdElsewhere("b", "dead [pool [1]]");
		holdElsewhere("kept", "dead [main]");
		this.store.memory.keep("kept", "owner of kept", LEASE);
		holdElsewhere("of-another", "dead-2 [main]");
		holdElsewhere("of-a-thread", "alive [dead [main]]");
		LockList released = this.console.forceReleaseAll("dead");
		assertThat(released.locks()).extracting(LockInfo::key).containsExactly("a", "b");
		assertThat(released.complete()).isTrue();
		assertThat(this.console.list(10).locks()).extracting(LockInfo::key)
			.containsExactly("kept", "of-a-thread", "of-another");
		assertThat(this.console.forceReleaseAll("dead").locks()).isEmpty();
		assertThatIllegalArgumentException().isThrownBy(() -> this.console.forceReleaseAll(" "));
	}

	@Test
	void releaseOfMoreLocksThanAListShowsIsNotComplete() {
		IntStream.rangeClosed(0, 10_000).forEach((i) -> holdElsewhere("key-" + i, "dead [main]"));
		LockList released = this.console.forceReleaseAll("dead");
		assertThat(released.locks()).hasSize(10_000);
		assertThat(released.problem()).isNull();
		assertThat(released.complete()).isFalse();
		assertThat(this.console.forceReleaseAll("dead").complete()).isTrue();
	}

	@Test
	void lockThatIsTakenMeanwhileIsNotReleased() {
		holdElsewhere("a", "dead [main]");
		this.store.beforeForcedRelease = () -> {
			this.store.memory.release("a", "owner of a");
			this.store.memory.acquire(new AcquireCommand("a", "next", LEASE, "dead [main]", ""));
		};
		assertThat(this.console.forceReleaseAll("dead").locks()).isEmpty();
		assertThat(this.console.find("a")).isPresent();
	}

	@Test
	void failureWhileLocksOfAnInstanceAreReleasedIsTold() {
		holdElsewhere("a", "dead [main]");
		holdElsewhere("b", "dead [main]");
		this.store.unreachable = "b"::equals;
		LockList released = this.console.forceReleaseAll("dead");
		assertThat(released.locks()).extracting(LockInfo::key).containsExactly("a");
		assertThat(released.complete()).isFalse();
		assertThat(released.problem()).contains("'b'");
		this.store.unreachable = (key) -> false;
		this.store.hasNoInspection = true;
		assertThat(this.console.forceReleaseAll("dead").problem()).contains("cannot list");
	}

	@Test
	void r55ForcedReleaseIsAnImmediateLoss() throws Exception {
		LockHandle handle = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> lost = new CompletableFuture<>();
		handle.onLost(lost::complete);
		CompletableFuture<LockHandle> next = waiter();
		assertThat(this.console.forceRelease("key", handle.token())).isEqualTo(ForcedRelease.RELEASED);
		assertThat(handle.isValid()).isFalse();
		lost.get();
		LockHandle successor = next.get();
		assertThat(successor.token()).as("a grant of its own").isGreaterThan(handle.token() + 1);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release)
			.withMessageContaining("released by force");
		assertThat(successor.isValid()).isTrue();
		assertThat(this.store.memory.renew(List.of(new RenewCommand("key", ownerOf(successor), LEASE))))
			.containsExactly(RenewResult.RENEWED);
		successor.release();
	}

	/**
	 * Keys of two buckets in Redis may have the same token.
	 */
	@Test
	void forcedReleaseEndsNoOtherLockWithTheSameToken() {
		this.store.batches = true;
		this.store.afterBatch = (results) -> List.of(results.get(0), results.get(0));
		LockSet locks = this.registry.acquireAllAsync(request(), List.of("key", "other")).join();
		LockHandle taken = locks.handle("key");
		LockHandle other = locks.handle("other");
		assertThat(other.token()).isEqualTo(taken.token());
		assertThat(this.console.forceRelease("key", taken.token())).isEqualTo(ForcedRelease.RELEASED);
		assertThat(taken.isValid()).isFalse();
		assertThat(other.isValid()).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(locks::release);
	}

	private String ownerOf(LockHandle handle) {
		return this.registry.ownerOf(handle).orElseThrow();
	}

	@Test
	void r55AnyTokenOfTheLeaseIsAcceptedAndNoOther() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		first.release();
		LockHandle successor = second.get();
		assertThat(successor.token()).isEqualTo(first.token() + 1);
		long last = first.token() + 1023;
		for (long other : List.of(first.token() - 1, last + 1, 0L, -1L, first.token() / 1024, Long.MAX_VALUE,
				Long.MIN_VALUE)) {
			assertThat(this.console.forceRelease("key", other)).as("%d", other).isEqualTo(ForcedRelease.OTHER_TOKEN);
		}
		assertThat(successor.isValid()).isTrue();
		assertThat(this.console.forceRelease("key", successor.token())).isEqualTo(ForcedRelease.RELEASED);
		assertThat(successor.isValid()).isFalse();
		assertThat(this.console.forceRelease("key", last)).isEqualTo(ForcedRelease.NOT_HELD);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(successor::release);
	}

	@Test
	void r55ForcedReleaseTakesTheLockOfAnotherProcess() {
		this.store.memory.acquire(new AcquireCommand("a b", "elsewhere", LEASE, "elsewhere [main]", ""));
		LockInfo lock = this.console.find("a%20b").orElseThrow();
		assertThat(this.console.forceRelease(lock.key(), lock.token())).isEqualTo(ForcedRelease.RELEASED);
		assertThat(this.store.memory.renew(List.of(new RenewCommand("a b", "elsewhere", LEASE))))
			.containsExactly(RenewResult.REFUSED);
	}

}
