package io.dlock.store.memory;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;

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
	void memberIsGrantedAgainWhenTheExclusiveRequestAsksNoMore() {
		AtomicLong nanos = new AtomicLong();
		MemoryLockStore store = new MemoryLockStore(nanos::get);
		MailboxAddress mailbox = MailboxAddress.create(Duration.ofSeconds(9));
		AcquireCommand reading = new AcquireCommand("key", "+b", Duration.ofSeconds(30), "holder", "", null, false,
				null, AcquireCommand.UNLIMITED);
		store.acquire(new AcquireCommand("key", "+a", Duration.ofSeconds(30), "holder", ""));
		store.acquire(new AcquireCommand("key", "x", Duration.ofSeconds(30), "holder", "", mailbox, true, null));
		nanos.addAndGet(Duration.ofSeconds(9).toNanos());
		assertThat(store.acquire(reading)).isInstanceOf(AcquireResult.Refused.class);
		nanos.addAndGet(Duration.ofSeconds(1).toNanos());
		assertThat(store.acquire(reading)).isInstanceOf(AcquireResult.Granted.class);
	}

	@Test
	void tokenFollowsNoLeastTokenThatIsFarAheadOfTheClock() {
		MemoryLockStore store = new MemoryLockStore();
		long future = 4_000_000_000_000_000L;
		AcquireCommand command = new AcquireCommand("key", "a", Duration.ofSeconds(30), "holder", "");
		assertThat(store.acquire(command, future)).isInstanceOfSatisfying(AcquireResult.Granted.class,
				(granted) -> assertThat(granted.token()).isLessThan(future));
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
