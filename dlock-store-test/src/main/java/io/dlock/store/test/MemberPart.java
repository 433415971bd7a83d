package io.dlock.store.test;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A part of the contract of a store that supports members.
 */
abstract class MemberPart extends ContractPart {

	static final int UNLIMITED = AcquireCommand.UNLIMITED;

	MemberPart(LockStoreContract contract, Feature... required) {
		super(contract, required);
	}

	@BeforeEach
	void requireMembers() {
		assumeTrue(store().supportsMembers(), "The store supports no members");
	}

	/**
	 * Acquire the key for a member of a shared lock.
	 */
	final AcquireResult share(String owner) {
		return member(owner, LEASE, UNLIMITED);
	}

	final AcquireResult share(String owner, Duration lease) {
		return member(owner, lease, UNLIMITED);
	}

	final AcquireResult permit(String owner, int limit) {
		return member(owner, LEASE, limit);
	}

	final AcquireResult member(String owner, Duration lease, int limit) {
		return store()
			.acquire(new AcquireCommand(key(), owner, lease, "holder " + owner, REASON, null, false, null, limit));
	}

	/**
	 * Acquire the key for a member, or join the queue with that address.
	 */
	final AcquireResult member(String owner, int limit, MailboxAddress mailbox) {
		return store()
			.acquire(new AcquireCommand(key(), owner, LEASE, "holder " + owner, REASON, mailbox, true, null, limit));
	}

	/**
	 * Acquire the key for a member that takes the place of another owner.
	 */
	final AcquireResult member(String owner, int limit, @Nullable MailboxAddress mailbox, String releasing) {
		return store().acquire(new AcquireCommand(key(), owner, LEASE, "holder " + owner, REASON, mailbox,
				mailbox != null, releasing, limit));
	}

	final void holds(String owner) {
		assertThat(renew(owner, Duration.ofMillis(1))).as("%s holds the key", owner).isEqualTo(RenewResult.RENEWED);
	}

	final void holdsNoMore(String owner) {
		assertThat(renew(owner, LEASE)).as("%s does not hold the key", owner).isEqualTo(RenewResult.REFUSED);
	}

	static boolean awaited(AcquireResult result) {
		granted(result);
		return ((Granted) result).awaited();
	}

}
