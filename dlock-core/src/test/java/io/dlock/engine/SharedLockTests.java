package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockCount;
import io.dlock.console.LockKind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

class SharedLockTests extends AbstractMemberTests {

	SharedLockTests() {
		super(SHORT_COMMAND_TIMEOUT);
	}

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
	void readersOfOtherTermsHaveLeasesOfTheirOwn() {
		hold(this.registry, shared("key").build());
		hold(this.registry, shared("key").lease(LEASE.multipliedBy(2)).build());
		assertThat(this.store.memory.list(10).locks()).hasSize(2);
		hold(this.registry, shared("key").build());
		hold(this.registry, shared("key").lease(LEASE.multipliedBy(2)).build());
		assertThat(this.store.memory.list(10).locks()).hasSize(2);
	}

	@Test
	void maxHoldEndsOneReaderOnly() {
		LockHandle lasting = hold(this.registry, shared("key").lease(RENEWED_LEASE).build());
		LockHandle limited = this.registry
			.acquireAsync(shared("key").lease(RENEWED_LEASE).maxHold(RENEWED_LEASE).build())
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
