package io.dlock.store.test;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store has the features that its test declares, and no others.
 */
abstract class FeatureContract extends ContractPart {

	private final MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));

	FeatureContract(LockStoreContract contract) {
		super(contract);
	}

	@Test
	void queueIsDeclared() {
		ask("a", null);
		ask("b", this.address);
		release("a");
		assertThat(find()).as("a reserved lock is free").isEmpty();
		assertThat(ask("c", null) instanceof Refused).isEqualTo(has(Feature.QUEUE));
	}

	@Test
	void storeWithoutAQueueIsNotAskedForFairLocks() {
		assertThat(has(Feature.QUEUE) || !store().supportsFairLocks()).isTrue();
	}

	@Test
	void mailboxIsDeclared() {
		Mailbox mailbox = store().openMailbox(this.address, (key) -> {
		});
		assertThat(mailbox != null).isEqualTo(has(Feature.MAILBOX));
		if (mailbox != null) {
			mailbox.close();
		}
	}

	@Test
	void keepIsDeclared() {
		ask("a", null);
		assertThat(store().keep(key(), "a", LEASE)).isEqualTo(has(Feature.KEEP));
	}

	@Test
	void inspectionIsDeclared() {
		assertThat(store().inspection() != null).isEqualTo(has(Feature.INSPECTION));
	}

}
