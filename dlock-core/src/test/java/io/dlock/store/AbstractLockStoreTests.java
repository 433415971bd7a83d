package io.dlock.store;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of one store. The contract of all stores is tested in {@code dlock-store-test}.
 */
public abstract class AbstractLockStoreTests {

	private final String key = "store/" + UUID.randomUUID();

	private LockStore store;

	protected abstract LockStore createStore();

	@BeforeEach
	void openStore() {
		this.store = createStore();
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

	protected final AcquireResult acquire(String owner, Duration lease) {
		return this.store.acquire(new AcquireCommand(this.key, owner, lease, "holder " + owner, ""));
	}

	protected final RenewResult renew(String owner, Duration lease) {
		return this.store.renew(List.of(new RenewCommand(this.key, owner, lease))).get(0);
	}

	protected static long granted(AcquireResult result) {
		assertThat(result).isInstanceOf(Granted.class);
		return ((Granted) result).token();
	}

}
