package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.datasource.AbstractDataSource;

import io.dlock.store.StoreException;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

class LockDatabaseOpenerTests {

	/**
	 * The log at start-up and the health show the URL.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = ' ', value = { "jdbc:postgresql://db:5432/shop jdbc:postgresql://db:5432/shop",
			"jdbc:postgresql://[::1]:5432,two/shop jdbc:postgresql://[::1]:5432,two/shop",
			"jdbc:postgresql:shop?password=secret jdbc:postgresql:shop", "jdbc:postgresql:shop jdbc:postgresql:shop",
			"jdbc:postgresql://db:5432/shop?user=u&password=secret jdbc:postgresql://db:5432/shop",
			"jdbc:postgresql://db/shop?user=u@corp&password=secret jdbc:postgresql://…",
			"jdbc:postgresql://db/shop?user=u&password=one@secret jdbc:postgresql://…",
			"jdbc:h2:file:/data/shop;USER=u;PASSWORD=secret jdbc:h2:file:/data/shop",
			"jdbc:h2:tcp://db/shop;PASSWORD=a@secret jdbc:h2:tcp://db/shop",
			"jdbc:mysql://u:secret@db:3306/shop jdbc:mysql://db:3306/shop",
			"jdbc:mysql://u:secret@one@secret/two@db/shop jdbc:mysql://db/shop",
			"jdbc:mysql://u:secret@one,u:secret@two/shop jdbc:mysql://two/shop",
			"jdbc:mysql://u:secret?secret@db/shop jdbc:mysql://…", "jdbc:mysql://u:?secret@db/shop?a=b jdbc:mysql://…",
			"jdbc:mysql://u:secret/secret?secret@db/shop jdbc:mysql://…",
			"jdbc:mysql://u:secret@secret?secret@db/shop jdbc:mysql://…",
			"jdbc:mysql://u:secret;@db/shop?a=b@c jdbc:mysql://…",
			"jdbc:mysql://u:sec#ret@db/shop jdbc:mysql://db/shop",
			"jdbc:mysql:replication://u:secret@one,two/shop?x=y jdbc:mysql:replication://one,two/shop",
			"jdbc:mysql://(host=db,port=1,user=u,password=secret)/shop jdbc:mysql://…",
			"jdbc:mysql://(host=db,user=u,password=se@secret)/shop jdbc:mysql://…",
			"jdbc:mysql://address=(host=db)(user=u)(password=secret,secret)/shop jdbc:mysql://…",
			"jdbc:mysql://u:secret@(host=db)/shop jdbc:mysql://…", "jdbc:mysql://u:sec(ret@db/shop jdbc:mysql://…",
			"jdbc:mariadb://db/shop?password=a&b=secret jdbc:mariadb://db/shop",
			"jdbc:sqlserver://db;user=u;password=one@secret jdbc:sqlserver://…" })
	void r57PasswordIsNotShown(String url, String shown) {
		assertThat(LockDatabaseOpener.withoutCredentials(url)).isEqualTo(shown).doesNotContain("secret");
	}

	@Test
	void driverWithoutAUrlIsDescribed() {
		assertThat(LockDatabaseOpener.withoutCredentials(null)).isEqualTo("jdbc");
	}

	/**
	 * A pool that is left open keeps its threads, and connects when the database is back.
	 */
	@Test
	void poolThatIsReplacedIsClosed() throws SQLException {
		String url = "jdbc:h2:mem:" + UUID.randomUUID();
		JdbcLockStoreSettings impatient = JdbcLockStoreSettings.defaults().withCommandTimeout(Duration.ofMillis(50));
		try (Connection database = DriverManager.getConnection(url, "sa", "");
				Statement statement = database.createStatement();
				HikariDataSource application = new HikariDataSource()) {
			application.setJdbcUrl(url + ";IFEXISTS=TRUE");
			application.setUsername("sa");
			application.setInitializationFailTimeout(-1);
			try (LockDatabaseOpener opener = new LockDatabaseOpener(application, impatient)) {
				LockDatabase current = Awaitility.await()
					.ignoreException(StoreException.class)
					.until(opener::open, Objects::nonNull);
				statement.execute("SHUTDOWN IMMEDIATELY");
				LockPools.evictAll(current.dataSource());
				Awaitility.await().until(() -> {
					opener.replaceIfEmpty(current);
					return opener.opened() != current;
				});
				assertThat(current.dataSource()).isInstanceOfSatisfying(HikariDataSource.class,
						(pool) -> Awaitility.await().until(pool::isClosed));
			}
		}
	}

	/**
	 * A thread that opens the database has its own limit.
	 */
	@Test
	void threadWaitsForTheFirstConnectionOfAnotherWithinTheTimeout() throws InterruptedException {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		DataSource hanging = new AbstractDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				asked.countDown();
				try {
					answer.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				throw new SQLException("down", "08001");
			}

			@Override
			public Connection getConnection(String username, String password) throws SQLException {
				return getConnection();
			}

		};
		LockDatabaseOpener opener = new LockDatabaseOpener(hanging,
				JdbcLockStoreSettings.defaults().withCommandTimeout(Duration.ofMillis(100)));
		CompletableFuture<LockDatabase> first = CompletableFuture.supplyAsync(opener::open,
				(task) -> new Thread(task).start());
		try {
			assertThat(asked.await(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS)).isTrue();
			assertThat(CompletableFuture.supplyAsync(opener::open)).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(StoreException.class)
				.withMessageContaining("does not answer");
		}
		finally {
			answer.countDown();
		}
		assertThat(first).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(StoreException.class);
		opener.close();
	}

}
