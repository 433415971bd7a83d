package io.dlock.store.jdbc;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * What goes wrong between a client and a database server.
 */
abstract class AbstractServerLockStoreTests extends AbstractJdbcLockStoreTests {

	private TcpProxy proxy;

	private JdbcLockStore behindProxy;

	abstract String host();

	abstract int port();

	/**
	 * The URL of the database at a port of this machine.
	 */
	abstract String url(int port);

	/**
	 * How many round trips an uncontended acquire and release may take.
	 */
	abstract int roundTrips();

	@BeforeEach
	void startProxy() {
		this.proxy = TcpProxy.to(host(), port());
		HikariDataSource pool = pool(url(this.proxy.port()));
		pool.setMinimumIdle(1);
		this.behindProxy = new JdbcLockStore(pool,
				settings().withCommandTimeout(Duration.ofMillis(500)).withPoolSize(2));
		this.behindProxy.verify();
	}

	@AfterEach
	void stopProxy() {
		this.behindProxy.close();
		this.proxy.close();
	}

	private AcquireCommand command(String owner) {
		return new AcquireCommand(key(), owner, LEASE, "holder", "");
	}

	@Test
	void uncontendedAcquireAndReleaseTakeFewRoundTrips() {
		for (int i = 0; i < 20; i++) {
			this.behindProxy.acquire(command("warm-up"));
			this.behindProxy.release(key(), "warm-up");
		}
		awaitSilence();
		this.proxy.resetCounters();
		for (int i = 0; i < 10; i++) {
			granted(this.behindProxy.acquire(command("a")));
			assertThat(this.behindProxy.release(key(), "a")).isTrue();
		}
		assertThat(this.proxy.roundTrips()).isEqualTo(10L * roundTrips());
	}

	/**
	 * The pools open their idle connections in the background.
	 */
	private void awaitSilence() {
		long[] last = { -1 };
		Awaitility.await().pollInterval(Duration.ofMillis(300)).until(() -> {
			long now = this.proxy.roundTrips();
			boolean silent = now == last[0];
			last[0] = now;
			return silent;
		});
		this.behindProxy.release(key(), "warm-up");
	}

	@Test
	void b1LostReplyToAnAcquireIsResolvedByTheOwner() {
		awaitSilence();
		this.proxy.dropNextReply();
		StoreException ex = catchThrowableOfType(StoreException.class, () -> this.behindProxy.acquire(command("a")));
		assertThat(ex).isNotNull();
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		Granted granted = Awaitility.await().ignoreException(StoreException.class).until(() -> {
			return (this.behindProxy.acquire(command("a")) instanceof Granted again) ? again : null;
		}, (result) -> result != null);
		assertThat(store().find(key()))
			.hasValueSatisfying((lock) -> assertThat(lock.token()).isEqualTo(granted.token()));
		assertThat(this.behindProxy.release(key(), "a")).isTrue();
	}

	@Test
	void b33LostReplyToAReleaseLeavesTheLockFree() {
		awaitSilence();
		granted(this.behindProxy.acquire(command("a")));
		this.proxy.dropNextReply();
		StoreException ex = catchThrowableOfType(StoreException.class, () -> this.behindProxy.release(key(), "a"));
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		Awaitility.await().untilAsserted(() -> assertThat(acquire("b", LEASE)).isInstanceOf(Granted.class));
	}

	@Test
	void r34SilentServerIsUnknownWithinTheTimeout() {
		awaitSilence();
		this.proxy.blackHole(true);
		StoreException ex = catchThrowableOfType(StoreException.class, () -> this.behindProxy.acquire(command("a")));
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		assertThat(ex.isLasting()).isFalse();
		this.proxy.blackHole(false);
		Awaitility.await()
			.ignoreException(StoreException.class)
			.untilAsserted(() -> assertThat(this.behindProxy.acquire(command("a"))).isInstanceOf(Granted.class));
	}

	@Test
	void cutConnectionsAreReplaced() {
		granted(this.behindProxy.acquire(command("a")));
		this.proxy.cutAll();
		Awaitility.await()
			.ignoreException(StoreException.class)
			.untilAsserted(() -> assertThat(this.behindProxy.release(key(), "a")).isTrue());
	}

	@Test
	void unreachableDatabaseIsAFailureWithoutEffect() {
		HikariDataSource nowhere = pool(url(1));
		nowhere.setInitializationFailTimeout(-1);
		nowhere.setConnectionTimeout(300);
		try (JdbcLockStore store = new JdbcLockStore(nowhere, settings())) {
			StoreException ex = catchThrowableOfType(StoreException.class, store::verify);
			assertThat(ex.effect()).isEqualTo(Effect.NONE);
		}
	}

	@Test
	void closeLeavesNoConnection() {
		int before = this.proxy.openConnections();
		granted(this.behindProxy.acquire(command("a")));
		this.behindProxy.close();
		application().close();
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.proxy.openConnections()).isLessThan(Math.max(2, before)));
	}

}
