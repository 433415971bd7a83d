package io.dlock.store.jdbc;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class LockTableCheckTests {

	private final MemoryLockStore store = new MemoryLockStore();

	private final JdbcLockStoreSettings settings = JdbcLockStoreSettings.defaults();

	private LockStore storeWith(String replaced, Object answer) {
		return (LockStore) Proxy.newProxyInstance(LockStore.class.getClassLoader(), new Class<?>[] { LockStore.class },
				(proxy, method, arguments) -> method.getName().equals(replaced) ? answer
						: method.invoke(this.store, arguments));
	}

	/**
	 * A proxy may let a replica answer what only reads.
	 */
	@Test
	void replicaThatIsBehindFailsNoStart() {
		LockTableCheck check = new LockTableCheck(storeWith("find", Optional.empty()), this.store::renew,
				this.settings);
		assertThatNoException().isThrownBy(check::run);
		assertThat(this.store.list(10).locks()).isEmpty();
	}

	@Test
	void lockThatIsGrantedToTwoOwnersFailsTheStart() {
		LockTableCheck check = new LockTableCheck(storeWith("acquire", new Granted(1)),
				(leases) -> List.of(RenewResult.RENEWED, RenewResult.REFUSED), this.settings);
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(check::run)
			.withMessageContaining("the second owner was granted it");
	}

	@Test
	void lockThatIsNotRenewedFailsTheStartAndIsReleased() {
		LockTableCheck check = new LockTableCheck(this.store,
				(leases) -> List.of(RenewResult.REFUSED, RenewResult.REFUSED), this.settings);
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(check::run)
			.withMessageContaining("[REFUSED, REFUSED]");
		assertThat(this.store.list(10).locks()).isEmpty();
	}

	@Test
	void renewalWithoutAnAnswerIsTriedAgain() {
		LockTableCheck check = new LockTableCheck(this.store,
				(leases) -> List.of(RenewResult.UNKNOWN, RenewResult.UNKNOWN), this.settings);
		assertThatExceptionOfType(StoreException.class).isThrownBy(check::run)
			.returns(false, StoreException::isPermanent);
		assertThat(this.store.list(10).locks()).isEmpty();
	}

	@Test
	void databaseThatIsTooSlowFailsNoStart() {
		LockTableCheck check = new LockTableCheck(this.store, this::renewLate,
				this.settings.withQuarantine(new Quarantine(Duration.ofMillis(10), Duration.ZERO)));
		assertThatNoException().isThrownBy(check::run);
	}

	private List<RenewResult> renewLate(List<RenewCommand> leases) {
		Awaitility.await().until(() -> this.store.find(leases.get(0).key()).isEmpty());
		return this.store.renew(leases);
	}

}
