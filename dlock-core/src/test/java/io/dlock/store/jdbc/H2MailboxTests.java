package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Mailboxes of a database that sends no messages: the store polls the locks for which
 * they wait.
 */
class H2MailboxTests extends AbstractJdbcStoreTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.h2();
	}

	@Test
	void grantedLockIsNoLongerPolled() {
		JdbcLockStore store = (JdbcLockStore) store();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (Mailbox mailbox = store.openMailbox(address, (key) -> {
		})) {
			assertThat(mailbox).isNotNull();
			granted(ask(store, "a", null));
			assertThat(ask(store, "b", address)).isInstanceOf(Refused.class);
			assertThat(store.awaited(address)).containsExactly(StorageKey.of(key()));
			granted(ask(store, "a", address));
			assertThat(store.awaited(address)).isEmpty();
			assertThat(ask(store, "b", address)).isInstanceOf(Refused.class);
			assertThat(store.awaited(address)).containsExactly(StorageKey.of(key()));
			store.leave(StorageKey.of(key()), address);
			assertThat(store.awaited(address)).as("given up").isEmpty();
		}
	}

	@Test
	void lockOfARequestThatDoesNotQueueIsNotPolled() {
		JdbcLockStore store = (JdbcLockStore) store();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (Mailbox mailbox = store.openMailbox(address, (key) -> {
		})) {
			assertThat(mailbox).isNotNull();
			granted(ask(store, "a", null));
			assertThat(store.acquire(new AcquireCommand(key(), "b", LEASE, "holder", "", address, false, null)))
				.isInstanceOf(Refused.class);
			assertThat(store.awaited(address)).isEmpty();
		}
	}

	@Test
	void eachMailboxReceivesItsOwnKeysOnly() {
		JdbcLockStore store = (JdbcLockStore) store();
		MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));
		MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(9));
		Queue<String> turns = new ConcurrentLinkedQueue<>();
		Mailbox firstMailbox = store.openMailbox(first, (key) -> turns.add("first"));
		try (Mailbox secondMailbox = store.openMailbox(second, (key) -> turns.add("second"))) {
			assertThat(secondMailbox).isNotNull();
			granted(ask(store, "a", null));
			ask(store, "b", first);
			ask(store, "c", second);
			store.release(key(), "a");
			Awaitility.await().untilAsserted(() -> assertThat(turns).containsExactly("first"));
			granted(ask(store, "b", first));
			firstMailbox.close();
			store.leave(StorageKey.of(key()), first);
			store.release(key(), "b");
			Awaitility.await().untilAsserted(() -> assertThat(turns).containsExactly("first", "second"));
			assertThat(store.awaited(first)).isEmpty();
		}
	}

	@Test
	void moreLocksArePolledThanOneStatementNames() {
		JdbcLockStore store = (JdbcLockStore) store();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		Duration lease = Duration.ofHours(1);
		Queue<String> turns = new ConcurrentLinkedQueue<>();
		try (Mailbox mailbox = store.openMailbox(address, turns::add)) {
			assertThat(mailbox).isNotNull();
			for (int i = 0; i < 1100; i++) {
				granted(store.acquire(new AcquireCommand(key() + i, "a", lease, "holder", "")));
				store.acquire(new AcquireCommand(key() + i, "b", lease, "holder", "", address, true, null));
			}
			for (int i = 0; i < 1100; i += 11) {
				store.release(key() + i, "a");
			}
			Awaitility.await().untilAsserted(() -> assertThat(turns).hasSize(100));
		}
	}

	@Test
	void mailboxEndsWithItsStore() {
		Set<Thread> before = mailboxThreads();
		JdbcLockStore store = new JdbcLockStore(application(), settings());
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		Mailbox mailbox = store.openMailbox(address, (key) -> {
		});
		granted(ask(store, "a", null));
		ask(store, "b", address);
		Set<Thread> opened = mailboxThreads();
		opened.removeAll(before);
		assertThat(opened).hasSize(1);
		store.close();
		Awaitility.await().untilAsserted(() -> assertThat(opened).noneMatch(Thread::isAlive));
		mailbox.close();
		store.openMailbox(address, (key) -> {
		});
		Awaitility.await()
			.untilAsserted(() -> assertThat(before).as("none is left of a closed store").containsAll(mailboxThreads()));
	}

	private static Set<Thread> mailboxThreads() {
		return threads("dlock-mailbox");
	}

	@Test
	void failingDatabaseIsPolledLessOftenAndFailingListenerIsCalledAgain() throws SQLException {
		AtomicInteger looks = new AtomicInteger();
		DataSource counting = new DelegatingDataSource(application()) {

			@Override
			public Connection getConnection() throws SQLException {
				looks.incrementAndGet();
				return super.getConnection();
			}

			@Override
			public boolean isWrapperFor(Class<?> type) {
				return false;
			}

		};
		JdbcLockStore store = new JdbcLockStore(counting, settings().withPoolSize(0));
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		AtomicInteger turns = new AtomicInteger();
		Mailbox mailbox = store.openMailbox(address, (key) -> {
			if (turns.getAndIncrement() == 0) {
				throw new AssertionError("a failure that is not an exception");
			}
		});
		try (mailbox) {
			granted(ask(store, "a", null));
			ask(store, "b", address);
			execute("ALTER TABLE dlock_lock RENAME TO dlock_away");
			looks.set(0);
			Awaitility.await().pollDelay(Duration.ofMillis(1500)).until(() -> true);
			assertThat(looks.get()).as("looks in 1.5 s").isBetween(1, 15);
			execute("ALTER TABLE dlock_away RENAME TO dlock_lock");
			store.release(key(), "a");
			Awaitility.await().untilAsserted(() -> assertThat(turns).hasValue(1));
			granted(ask(store, "b", address));
			ask(store, "c", address);
			store.release(key(), "b");
			Awaitility.await().untilAsserted(() -> assertThat(turns).hasValueGreaterThan(1));
			granted(ask(store, "c", address));
			ask(store, "d", address);
			looks.set(0);
			Awaitility.await().untilAsserted(() -> assertThat(looks).as("as often as before").hasValueGreaterThan(100));
		}
		finally {
			store.close();
		}
	}

}
