package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.test.CapturedLog;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Readers whose shared lease is lost.
 */
class SharedLockLossTests extends AbstractMemberTests {

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

}
