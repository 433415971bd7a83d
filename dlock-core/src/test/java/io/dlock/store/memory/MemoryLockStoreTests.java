package io.dlock.store.memory;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryLockStoreTests {

	@Test
	void clockOfATestLetsALeaseRunOut() {
		AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1000);
		MemoryLockStore store = new MemoryLockStore(nanos::get);
		store.acquire(new AcquireCommand("key", "a", Duration.ofSeconds(30), "holder", ""));
		assertThat(store.find("key")).isPresent();
		nanos.addAndGet(Duration.ofSeconds(30).toNanos());
		assertThat(store.find("key")).isEmpty();
	}

	@Test
	void sweepRemovesExpiredLocks() {
		AtomicLong nanos = new AtomicLong();
		MemoryLockStore store = new MemoryLockStore(nanos::get);
		store.acquire(new AcquireCommand("short", "a", Duration.ofSeconds(1), "holder", ""));
		store.acquire(new AcquireCommand("long", "a", Duration.ofSeconds(30), "holder", ""));
		nanos.addAndGet(Duration.ofSeconds(10).toNanos());
		store.sweep();
		assertThat(store.size()).isEqualTo(1);
	}

}
