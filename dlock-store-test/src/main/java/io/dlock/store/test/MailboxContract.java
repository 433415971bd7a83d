package io.dlock.store.test;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The first process of a queue is told of its reservation.
 */
abstract class MailboxContract extends ContractPart {

	private final MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));

	private final MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(9));

	MailboxContract(LockStoreContract contract) {
		super(contract, Feature.QUEUE, Feature.MAILBOX);
	}

	@ParameterizedTest
	@ValueSource(strings = { "plain", "with spaces and %", "größer/日本 {tag}" })
	void mailboxReceivesTheStorageKey(String name) {
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		String waitedFor = key() + name;
		try (Mailbox mailbox = store().openMailbox(this.first, calls::add)) {
			assertThat(mailbox).isNotNull();
			acquire(waitedFor, "a", LEASE);
			ask(waitedFor, "b", this.first, true, null);
			assertThat(calls).isEmpty();
			store().release(waitedFor, "a");
			await().untilAsserted(() -> assertThat(calls).containsExactly(StorageKey.of(waitedFor)));
			store().leave(StorageKey.of(waitedFor), this.first);
		}
	}

	@Test
	void requestsOfAProcessHavePlacesAndMessagesOfTheirOwn() {
		requireFairLocks();
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		MailboxAddress one = this.first.ofRequest(1);
		MailboxAddress two = this.first.ofRequest(2);
		String storageKey = StorageKey.of(key());
		try (Mailbox mailbox = store().openMailbox(this.first, calls::add)) {
			assertThat(mailbox).isNotNull();
			granted(ask("a", null));
			refused(ask("c", two));
			refused(ask("b", one));
			release("a");
			await().untilAsserted(() -> assertThat(calls).containsExactly(storageKey + ' ' + two.value()));
			refused(ask("b", one));
			granted(ask("c", two));
			refused(ask("d", this.first));
			release("c");
			await().untilAsserted(() -> assertThat(calls).endsWith(storageKey + ' ' + one.value()));
			granted(ask("b", one));
			refused(ask("d", this.first));
			release("b");
			await().untilAsserted(() -> assertThat(calls).endsWith(storageKey).hasSize(3));
		}
	}

	@Test
	void requestBehindAMemberIsToldOfItsTurn() {
		requireFairLocks();
		assumeTrue(store().supportsMembers(), "The store has exclusive locks only");
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		MailboxAddress one = this.first.ofRequest(1);
		try (Mailbox mailbox = store().openMailbox(this.first, calls::add)) {
			assertThat(mailbox).isNotNull();
			granted(acquire("+a", LEASE));
			refused(ask("b", one));
			assertThat(release("+a")).isTrue();
			await().untilAsserted(() -> assertThat(calls).containsExactly(StorageKey.of(key()) + ' ' + one.value()));
			granted(ask("b", one));
		}
	}

	private void requireFairLocks() {
		assumeTrue(store().supportsFairLocks(), "The store has no fair locks");
	}

	@Test
	void requestThatLeavesLeavesTheOthersOfItsProcessTheirPlaces() {
		requireFairLocks();
		granted(ask("a", null));
		refused(ask("b", this.first.ofRequest(1)));
		refused(ask("c", this.first.ofRequest(2)));
		store().leave(StorageKey.of(key()), this.first.ofRequest(1));
		store().leave(StorageKey.of(key()), this.first);
		release("a");
		refused(ask("d", null));
		granted(ask("c", this.first.ofRequest(2)));
	}

	@Test
	void exchangeNotifiesTheHeadOfTheQueue() {
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		try (Mailbox mailbox = store().openMailbox(this.first, calls::add)) {
			assertThat(mailbox).isNotNull();
			granted(ask("a", null));
			refused(ask("b", this.first));
			refused(ask("a2", this.second, "a"));
			await().untilAsserted(() -> assertThat(calls).containsExactly(StorageKey.of(key())));
		}
	}

}
