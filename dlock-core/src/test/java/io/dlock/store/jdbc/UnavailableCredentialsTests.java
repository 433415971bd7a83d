package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The application's pool cannot tell its credentials, because a token service is down.
 */
class UnavailableCredentialsTests {

	private final HikariDataSource pool = new HikariDataSource();

	private final JdbcLockStore store = new JdbcLockStore(this.pool, JdbcLockStoreSettings.defaults());

	UnavailableCredentialsTests() {
		this.pool.setJdbcUrl("jdbc:h2:mem:credentials");
		this.pool.setCredentialsProvider(() -> {
			throw new IllegalStateException("the token service is down");
		});
	}

	@AfterEach
	void close() {
		this.store.close();
		this.pool.close();
	}

	@Test
	void d7AcquireFailsWithoutAnEffect() {
		assertThatExceptionOfType(StoreException.class)
			.isThrownBy(() -> this.store.acquire(new AcquireCommand("key", "a", Duration.ofSeconds(30), "holder", "")))
			.withMessageContaining("the token service is down")
			.satisfies((failure) -> assertThat(failure.effect()).isEqualTo(Effect.NONE));
	}

	@Test
	void d7RenewalIsNotAnswered() {
		assertThat(this.store.renew(List.of(new RenewCommand("key", "a", Duration.ofSeconds(30)))))
			.containsExactly(RenewResult.UNKNOWN);
	}

}
