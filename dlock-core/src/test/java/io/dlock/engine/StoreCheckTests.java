package io.dlock.engine;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.dlock.console.LockConsole;
import io.dlock.console.StoreReport;
import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The check of the store by an operator or a health indicator.
 */
class StoreCheckTests extends AbstractHandOffTests {

	private final LockConsole console = this.registry.console();

	@Test
	void r19CheckTakesALockAndReleasesIt() {
		StoreReport report = this.console.check();
		assertThat(report.failure()).isNull();
		assertThat(report.store()).isEqualTo("troubled");
		assertThat(report.server()).isEqualTo("memory");
		assertThat(report.warnings()).isNotEmpty();
		assertThat(this.store.acquires).hasValue(1);
		assertThat(this.store.releases).hasValue(1);
		assertThat(this.store.memory.find(RegistryConsole.CHECKED_KEY)).isEmpty();
		assertThat(this.registry.counts().held()).isZero();
	}

	@Test
	void r19RefusalDuringCheckIsNoFailure() {
		this.store.memory.acquire(new AcquireCommand(RegistryConsole.CHECKED_KEY, "elsewhere", LEASE, "elsewhere", ""));
		assertThat(this.console.list(10).locks()).as("a check of another instance").isEmpty();
		assertThat(this.console.check().failure()).isNull();
		assertThat(this.store.releases).as("what is not ours").hasValue(0);
		this.store.memory.release(RegistryConsole.CHECKED_KEY, "elsewhere");
	}

	@Test
	void r19CheckReportsTheFailureOfTheStore() {
		assertThat(failureWhen(() -> this.store.down = true)).contains("connection refused");
		this.store.down = false;
		assertThat(failureWhen(() -> this.store.lostAcquireReplies.set(1))).contains("the reply was lost");
		assertThat(failureWhen(() -> this.store.lostReleaseReplies.set(1))).contains("the reply was lost");
		this.store.beforeAcquire = () -> {
			throw new IllegalStateException("a store with a bug");
		};
		assertThat(this.console.check().failure()).contains("a store with a bug");
	}

	@Test
	void r19LockOfAFailedCheckMakesNoLaterCheckSucceed() {
		this.store.lostAcquireReplies.set(2);
		assertThat(this.console.check().failure()).contains("the reply was lost");
		assertThat(this.store.memory.find(RegistryConsole.CHECKED_KEY)).isEmpty();
		assertThat(this.console.check().failure()).contains("the reply was lost");
		assertThat(this.console.check().failure()).isNull();
	}

	@Test
	void r19RefusalDoesNotEndAFailure() {
		assertThat(failureWhen(() -> this.store.lostAcquireReplies.set(1))).isNotNull();
		this.store.memory.acquire(new AcquireCommand(RegistryConsole.CHECKED_KEY, "elsewhere", LEASE, "elsewhere", ""));
		assertThat(this.console.check().failure()).contains("the reply was lost");
		this.store.memory.release(RegistryConsole.CHECKED_KEY, "elsewhere");
		assertThat(this.console.check().failure()).isNull();
		this.store.memory.acquire(new AcquireCommand(RegistryConsole.CHECKED_KEY, "elsewhere", LEASE, "elsewhere", ""));
		assertThat(this.console.check().failure()).isNull();
		this.store.memory.release(RegistryConsole.CHECKED_KEY, "elsewhere");
	}

	private @Nullable String failureWhen(Runnable trouble) {
		this.store.memory.clear();
		trouble.run();
		return this.console.check().failure();
	}

}
