package io.dlock.engine;

import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockStoreException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class DowngradeTests extends AbstractMemberTests {

	/** A downgrade loses the lock in Redisson (issue 4217). */
	@Test
	void lockIsSharedAfterwards() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		CompletableFuture<LockHandle> waiting = waiting(this.registry, shared("key").build());
		LockHandle reader = writer.downgrade();
		assertThat(reader.isValid()).isTrue();
		assertThat(reader.mode()).isEqualTo(LockMode.SHARED);
		assertThat(reader.token()).isGreaterThan(writer.token());
		assertThat(writer.isValid()).isFalse();
		writer.release();
		assertThat(LockHandle.current()).containsSame(reader);
		assertThat(waiting.join().token()).as("shares the lease").isEqualTo(reader.token());
		this.other.tryAcquire(tryShared("key")).orElseThrow().release();
		waiting.join().release();
		reader.release();
	}

	@Test
	void comesBeforeQueuedWriters() {
		LockHandle writer = hold(this.registry, exclusive("key").build());
		CompletableFuture<LockHandle> local = waiting(this.registry, exclusive("key").build());
		CompletableFuture<LockHandle> remote = waiting(this.other, exclusive("key").build());
		awaitQueuedInStore(this.other);
		LockHandle reader = writer.downgrade();
		assertThat(local).isNotDone();
		assertThat(remote).isNotDone();
		assertThat(this.registry.tryAcquire(tryShared("key"))).isEmpty();
		reader.release();
		CompletableFuture.anyOf(local, remote).join();
		Awaitility.await().until(() -> local.isDone() ^ remote.isDone());
		(local.isDone() ? local : remote).join().release();
		CompletableFuture.allOf(local, remote).join();
		local.join().release();
		remote.join().release();
	}

	@Test
	void nestedHandlesPreventIt() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		LockHandle nested = this.registry.acquire(exclusive("key").build());
		assertThatIllegalStateException().isThrownBy(nested::downgrade).withMessageContaining("other handles");
		assertThat(writer.isValid() && nested.isValid()).isTrue();
		nested.release();
		LockHandle reader = writer.downgrade();
		assertThatIllegalStateException().isThrownBy(reader::downgrade).withMessageContaining("not exclusive");
		assertThatIllegalStateException().isThrownBy(writer::downgrade).withMessageContaining("released");
		reader.release();
	}

	@Test
	void lostLockCannotBeDowngraded() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		this.registry.console().forceRelease("key", writer.token());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(writer::downgrade);
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void lockThatTheStoreGaveAwayIsLost() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		this.store.memory.forceRelease("key", writer.token() / Lease.TOKENS_PER_LEASE);
		LockHandle next = hold(this.other, exclusive("key").build());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(writer::downgrade);
		assertThat(writer.isValid()).isFalse();
		assertThat(next.isValid()).isTrue();
	}

	@Test
	void failureOfTheStoreEndsTheLock() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		this.store.lostAcquireReplies.set(1);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(writer::downgrade);
		assertThat(writer.isValid()).isFalse();
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	@Test
	void interruptedThreadDowngrades() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		Thread.currentThread().interrupt();
		LockHandle reader = writer.downgrade();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(reader.isValid()).isTrue();
		reader.release();
	}

}
