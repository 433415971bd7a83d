package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockCount;
import io.dlock.console.LockKind;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.test.CapturedLog;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.tuple;

class SharedLockTests extends AbstractMemberTests {

	@Test
	void readersOfOneProcessShareOneLease() {
		LockHandle one = hold(this.registry, shared("key").build());
		LockHandle two = hold(this.registry, shared("key").build());
		assertThat(one.isValid() && two.isValid()).isTrue();
		assertThat(one.mode()).isEqualTo(LockMode.SHARED);
		assertThat(two.token()).isEqualTo(one.token());
		assertThat(this.store.memory.list(10).locks()).hasSize(1);
		one.release();
		assertThat(isFreeInStore("key")).isFalse();
		two.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void readersJoinWithoutTheStore() {
		LeaseLockRegistry patient = patient();
		List<LockHandle> readers = IntStream.range(0, 100)
			.mapToObj((i) -> patient.acquireAsync(shared("key").build()).join())
			.toList();
		readers.forEach(LockHandle::release);
		assertThat(this.store.acquires).hasValue(1);
		assertThat(this.store.releases).hasValue(1);
		patient.close();
	}

	@Test
	void readersOfTwoProcessesKeepAnExclusiveRequestOut() {
		LockHandle one = hold(this.registry, shared("key").build());
		LockHandle two = hold(this.other, shared("key").build());
		assertThat(this.registry.tryAcquire(noWait("key"))).isEmpty();
		CompletableFuture<LockHandle> writer = waiting(this.registry, exclusive("key").build());
		one.release();
		assertThat(writer).isNotDone();
		assertThat(two.isValid()).isTrue();
		two.release();
		LockHandle exclusive = writer.join();
		assertThat(exclusive.token()).isGreaterThan(two.token());
		assertThat(this.other.tryAcquire(tryShared("key"))).isEmpty();
		exclusive.release();
	}

	@Test
	void readersOfOtherTermsHaveLeasesOfTheirOwn() {
		hold(this.registry, shared("key").build());
		hold(this.registry, shared("key").lease(LEASE.multipliedBy(2)).build());
		assertThat(this.store.memory.list(10).locks()).hasSize(2);
		hold(this.registry, shared("key").build());
		hold(this.registry, shared("key").lease(LEASE.multipliedBy(2)).build());
		assertThat(this.store.memory.list(10).locks()).hasSize(2);
	}

	/** Redisson admits new readers while a writer waits (issue 5379). */
	@Test
	void newReaderQueuesBehindAWriterOfItsProcess() {
		LeaseLockRegistry asking = asking();
		LockHandle reader = asking.acquireAsync(shared("key").build()).join();
		CompletableFuture<LockHandle> writer = waiting(asking, exclusive("key").build());
		assertThat(asking.tryAcquire(tryShared("key"))).isEmpty();
		CompletableFuture<LockHandle> second = waiting(asking, shared("key").build());
		reader.release();
		LockHandle exclusive = writer.join();
		assertThat(second).isNotDone();
		exclusive.release();
		second.join().release();
		asking.close();
	}

	/**
	 * A process that asks the store each time.
	 */
	private LeaseLockRegistry asking() {
		return new LeaseLockRegistry(this.store,
				LockSettings.builder().commandTimeout(Duration.ofMillis(50)).handOffMaxDuration(Duration.ZERO).build());
	}

	/**
	 * A process that asks the store hardly ever.
	 */
	private LeaseLockRegistry patient() {
		return new LeaseLockRegistry(this.store, LockSettings.builder().handOffMaxDuration(LEASE).build());
	}

	@Test
	void newReaderQueuesBehindAWriterOfAnotherProcess() {
		LockHandle reader = hold(this.registry, shared("key").build());
		CompletableFuture<LockHandle> writer = waiting(this.other, exclusive("key").build());
		awaitQueuedInStore(this.other);
		// an answer of the store is used as long as a lock may be passed on
		Awaitility.await()
			.until(() -> this.registry.tryAcquire(tryShared("key")).map(SharedLockTests::released).isEmpty());
		CompletableFuture<LockHandle> second = waiting(this.registry, shared("key").build());
		reader.release();
		LockHandle exclusive = writer.join();
		assertThat(second).isNotDone();
		exclusive.release();
		second.join().release();
	}

	@Test
	void readerWhoseLeaseIsLostWhileItJoinsWaitsInItsQueue() {
		LeaseLockRegistry asking = asking();
		LockHandle lost = asking.acquireAsync(shared("key").build()).join();
		this.store.memory.clear();
		LockHandle writer = this.other.acquireAsync(exclusive("key").build()).join();
		int before = this.store.acquires.get();
		CompletableFuture<LockHandle> reader = asking.acquireAsync(shared("key").build());
		Awaitility.await().until(() -> this.store.acquires.get() >= before + 2);
		assertThat(asking.queues().waiting()).hasSize(1);
		writer.release();
		assertThat(reader).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
		asking.close();
	}

	private static LockHandle released(LockHandle handle) {
		handle.release();
		return handle;
	}

	@Test
	void readersThatWaitedGoAsOneBatch() {
		LeaseLockRegistry asking = asking();
		LockHandle writer = hold(asking, exclusive("key").build());
		List<CompletableFuture<LockHandle>> readers = new ArrayList<>();
		IntStream.range(0, 20).forEach((i) -> readers.add(waiting(asking, shared("key").build())));
		CompletableFuture<LockHandle> next = waiting(asking, exclusive("key").build());
		CompletableFuture<LockHandle> late = waiting(asking, shared("key").build());
		int before = this.store.acquires.get();
		writer.release();
		List<LockHandle> together = readers.stream().map(CompletableFuture::join).toList();
		assertThat(together).allMatch(LockHandle::isValid)
			.extracting(LockHandle::token)
			.containsOnly(together.get(0).token());
		assertThat(this.store.memory.list(10).locks()).hasSize(1);
		assertThat(this.store.acquires.get() - before).as("calls of the first reader and the next writer")
			.isLessThan(20);
		assertThat(late).isNotDone();
		together.forEach(LockHandle::release);
		next.join().release();
		late.join().release();
		asking.close();
	}

	@Test
	void newLeaseIsForReadersBehindAWriterToo() {
		LeaseLockRegistry patient = patient();
		LockHandle writer = hold(patient, exclusive("key").build());
		CompletableFuture<LockHandle> reader = waiting(patient, shared("key").build());
		CompletableFuture<LockHandle> next = waiting(patient, exclusive("key").build());
		CompletableFuture<LockHandle> late = waiting(patient, shared("key").build());
		writer.release();
		assertThat(late.join().token()).isEqualTo(reader.join().token());
		assertThat(next).isNotDone();
		reader.join().release();
		late.join().release();
		next.join().release();
		patient.close();
	}

	@Test
	void batchGoesTogetherAlthoughAWriterOfAnotherProcessWaits() {
		LockHandle writer = hold(this.registry, exclusive("key").build());
		List<CompletableFuture<LockHandle>> readers = new ArrayList<>();
		IntStream.range(0, 5).forEach((i) -> readers.add(waiting(this.registry, shared("key").build())));
		CompletableFuture<LockHandle> next = waiting(this.other, exclusive("key").build());
		awaitQueuedInStore(this.other);
		LockHandle reader = writer.downgrade();
		List<LockHandle> together = readers.stream().map(CompletableFuture::join).toList();
		assertThat(together).allMatch(LockHandle::isValid);
		assertThat(next).isNotDone();
		reader.release();
		together.forEach(LockHandle::release);
		next.join().release();
	}

	@Test
	void readerBehindAWriterOfItsProcessDoesNotOvertakeAWriterOfAnotherProcess() {
		LockHandle writer = hold(this.registry, exclusive("key").build());
		CompletableFuture<LockHandle> next = waiting(this.other, exclusive("key").build());
		awaitQueuedInStore(this.other);
		CompletableFuture<LockHandle> reader = waiting(this.registry, shared("key").build());
		writer.release();
		LockHandle exclusive = next.join();
		assertThat(reader).isNotDone();
		exclusive.release();
		reader.join().release();
	}

	@Test
	void lostLockIsNotUpgradedAndHidesNoOther() {
		LockRequest brief = shared("key").reentrant(false).lease(Duration.ofMillis(300)).renew(false).build();
		try (LockHandle outer = this.registry.acquire(shared("key").build())) {
			LockHandle inner = this.registry.acquire(brief);
			Awaitility.await().until(() -> !inner.isValid());
			assertThat(this.registry.isHeldByCurrentThread("key")).isTrue();
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.registry.acquire(exclusive("key").build()));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(inner::release);
			assertThat(outer.isValid()).isTrue();
		}
	}

	/** An upgrade blocks without end in Redisson (issue 4796). */
	@Test
	void upgradeIsRefusedAtOnce() {
		try (LockHandle reader = this.registry.acquire(shared("key").build())) {
			assertThatIllegalStateException().isThrownBy(() -> this.registry.acquire(exclusive("key").build()))
				.withMessageContaining("upgraded");
			assertThatIllegalStateException()
				.isThrownBy(() -> this.registry.readWriteLock("key").writeLock().tryLock());
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> this.registry.acquireAsync(exclusive("key").build(), reader).join())
				.withCauseInstanceOf(IllegalStateException.class);
			assertThat(reader.isValid()).isTrue();
		}
	}

	@Test
	void sharedInsideExclusiveIsNested() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		LockHandle reader = this.registry.acquire(shared("key").build());
		assertThat(reader.mode()).isEqualTo(LockMode.SHARED);
		assertThat(reader.token()).isEqualTo(writer.token());
		writer.release();
		assertThat(this.other.tryAcquire(tryShared("key"))).as("the lock is exclusive to the end").isEmpty();
		reader.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void nestedReaderDoesNotWaitForAWriter() {
		try (LockHandle reader = this.registry.acquire(shared("key").build())) {
			CompletableFuture<LockHandle> writer = waiting(this.registry, exclusive("key").build());
			this.registry.acquire(tryShared("key")).release();
			assertThat(reader.isValid()).isTrue();
			assertThat(writer).isNotDone();
			writer.cancel(false);
		}
	}

	@Test
	void lossOfTheLeaseIsALossForAllItsReaders() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(events::add);
		List<LockHandle> readers = IntStream.range(0, 3)
			.mapToObj((i) -> this.registry.acquireAsync(shared("key").build()).join())
			.toList();
		List<LockHandle> told = new CopyOnWriteArrayList<>();
		readers.forEach((reader) -> reader.onLost(told::add));
		long token = readers.get(0).token();
		this.registry.console().forceRelease("key", token);
		assertThat(readers).noneMatch(LockHandle::isValid);
		Awaitility.await().untilAsserted(() -> assertThat(told).containsExactlyInAnyOrderElementsOf(readers));
		Awaitility.await().until(() -> events.stream().filter(LockEvent.Lost.class::isInstance).count() == 3);
		readers.forEach((reader) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(reader::release));
		LockHandle next = hold(this.registry, shared("key").build());
		assertThat(next.token()).isGreaterThan(token);
	}

	@Test
	void lossOfASharedLeaseIsLoggedOnce() {
		try (CapturedLog log = CapturedLog.of(LeaseLifecycle.class)) {
			List<LockHandle> readers = IntStream.range(0, 3)
				.mapToObj((i) -> this.registry.acquireAsync(shared("key").build()).join())
				.toList();
			this.registry.console().forceRelease("key", readers.get(0).token());
			assertThat(readers).noneMatch(LockHandle::isValid);
			assertThat(log.events()).singleElement().asString().contains("Lock 'key'");
			readers.forEach((reader) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(reader::release));
		}
	}

	@Test
	void maxHoldEndsOneReaderOnly() {
		LockHandle lasting = hold(this.registry, shared("key").lease(SHORT_LEASE).build());
		LockHandle limited = this.registry.acquireAsync(shared("key").lease(SHORT_LEASE).maxHold(SHORT_LEASE).build())
			.join();
		List<LockHandle> told = new CopyOnWriteArrayList<>();
		limited.onLost(told::add);
		lasting.onLost(told::add);
		assertThat(limited.token()).as("the readers share a lease").isEqualTo(lasting.token());
		Awaitility.await().until(() -> told.contains(limited));
		assertThat(limited.isValid()).isFalse();
		int renewals = this.store.renewals.get();
		Awaitility.await().until(() -> this.store.renewals.get() > renewals);
		assertThat(lasting.isValid()).isTrue();
		assertThat(told).containsExactly(limited);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(limited::release);
		assertThat(lasting.isValid()).isTrue();
	}

	@Test
	void eachReaderHasItsEventsAndIsShownAsAHolder() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(events::add);
		LockHandle one = hold(this.registry, shared("key").name("a").build());
		hold(this.registry, shared("key").name("b").build());
		assertThat(this.registry.counts().held()).isEqualTo(2);
		assertThat(this.registry.counts().byName()).extracting(LockCount::name, LockCount::held)
			.containsExactlyInAnyOrder(tuple("a", 1), tuple("b", 1));
		assertThat(this.registry.console().local().held()).extracting(LocalLocks.Held::kind)
			.containsExactly(LockKind.SHARED, LockKind.SHARED);
		one.release();
		assertThat(this.registry.counts().byName()).extracting(LockCount::name).containsExactly("b");
		assertThat(events).extracting(LockEvent::name).containsExactly("a", "b", "a");
		assertThat(events.get(2)).isInstanceOf(LockEvent.Released.class);
	}

	@Test
	void readerWhoseTimeIsOverLeavesTheBatch() {
		LockHandle writer = hold(this.registry, exclusive("key").build());
		CompletableFuture<LockHandle> cancelled = waiting(this.registry, shared("key").build());
		CompletableFuture<LockHandle> reader = waiting(this.registry, shared("key").build());
		CompletableFuture<LockHandle> expiring = this.registry
			.acquireAsync(shared("key").waitTime(Duration.ofMillis(1)).build());
		assertThatExceptionOfType(CompletionException.class).isThrownBy(expiring::join)
			.withCauseInstanceOf(LockBusyException.class);
		cancelled.cancel(false);
		writer.release();
		reader.join().release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void closeTakesTheLockFromAllReaders() {
		List<LockHandle> readers = IntStream.range(0, 3)
			.mapToObj((i) -> this.registry.acquireAsync(shared("key").build()).join())
			.toList();
		this.registry.close();
		assertThat(readers).noneMatch(LockHandle::isValid);
		assertThat(isFreeInStore("key")).isTrue();
		readers.forEach((reader) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(reader::release));
		assertThatExceptionOfType(LockRegistryClosedException.class)
			.isThrownBy(() -> this.registry.acquire(shared("key").build()));
	}

	@Test
	void lostAnswerWhetherAWriterWaitsLeavesNothingBehind() {
		LeaseLockRegistry asking = asking();
		LockHandle one = asking.acquireAsync(shared("key").build()).join();
		this.store.stuckAcquires.set(1);
		LockHandle two = asking.acquireAsync(shared("key").build()).join();
		assertThat(one.isValid() && two.isValid()).isTrue();
		one.release();
		two.release();
		assertThat(isFreeInStore("key")).isTrue();
		this.store.memory.acquire(this.store.stuck.remove());
		Awaitility.await().until(() -> isFreeInStore("key"));
		asking.close();
	}

	@Test
	void leaseThatTheStoreLostEndsAllReaders() {
		LeaseLockRegistry asking = asking();
		LockHandle one = asking.acquireAsync(shared("key").build()).join();
		this.store.memory.release("key", this.store.asked.owner());
		LockHandle two = asking.acquireAsync(shared("key").build()).join();
		assertThat(one.isValid()).isFalse();
		assertThat(two.isValid()).isTrue();
		assertThat(two.token()).isGreaterThan(one.token());
		two.release();
		assertThat(isFreeInStore("key")).as("the lost lease is not granted anew").isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(one::release);
		asking.close();
	}

	@Test
	void readerIsToldOfALossAlthoughTheNextReadersQuestionHasNoAnswer() {
		LeaseLockRegistry asking = asking();
		LockHandle one = asking.acquireAsync(shared("key").build()).join();
		AcquireCommand first = Objects.requireNonNull(this.store.asked);
		this.store.memory.release("key", first.owner());
		this.store.stuckAcquires.set(1);
		LockHandle two = asking.acquireAsync(shared("key").build()).join();
		this.store.memory.acquire(this.store.stuck.remove());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(one::renewNow);
		for (LockHandle each : List.of(one, two)) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(each::release);
		}
		asking.close();
	}

	/**
	 * A request without an answer arrives late.
	 */
	@Test
	void leaseThatBeganAnewIsLost() {
		LeaseLockRegistry asking = asking();
		this.store.stuckAcquires.set(1);
		LockHandle one = asking.acquireAsync(shared("key").build()).join();
		AcquireCommand late = this.store.stuck.remove();
		this.store.memory.release("key", late.owner());
		this.store.memory.acquire(late);
		LockHandle two = asking.acquireAsync(shared("key").build()).join();
		assertThat(one.isValid()).isFalse();
		assertThat(two.token()).isGreaterThan(one.token());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(one::release);
		two.release();
		Awaitility.await().until(() -> isFreeInStore("key"));
		asking.close();
	}

	@Test
	void storeWithoutMembersIsRefused() {
		this.store.hasNoMembers = true;
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquire(shared("key").build()))
			.withMessageContaining("troubled");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.validate(shared("key").build()));
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAsync(shared("key").build()));
		this.registry.acquire(exclusive("key").build()).release();
	}

	@Test
	void minHoldIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> shared("key").minHold(Duration.ofSeconds(1)).build())
			.withMessageContaining("minHold");
		LockRequest exclusive = exclusive("key").minHold(Duration.ofSeconds(1)).build();
		assertThat(exclusive.withMode(LockMode.SHARED)).as("without it").isEqualTo(shared("key").build());
	}

}
