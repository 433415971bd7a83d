package io.dlock.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.dlock.store.LockStore;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * {@link LockStore#sweep} removes what is over, and nothing else.
 */
abstract class SweepContract extends ContractPart {

	private final MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));

	SweepContract(LockStoreContract contract) {
		super(contract);
	}

	/**
	 * The other tests of the class may have left much to remove.
	 */
	private void sweep() {
		await().until(() -> !store().sweep());
	}

	@Test
	void heldLockStays() {
		long token = granted(acquire("a", LEASE));
		sweep();
		assertThat(find()).hasValueSatisfying((lock) -> assertThat(lock.token()).isEqualTo(token));
		refused(acquire("b", LEASE));
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void membersStay() {
		assumeTrue(store().supportsMembers(), "The store supports no members");
		granted(acquire("+a", LEASE));
		sweep();
		refused(acquire("b", LEASE));
		assertThat(renew("+a", LEASE)).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void queueAndReservationStay() {
		require(Feature.QUEUE);
		granted(ask("a", null));
		refused(ask("b", this.address));
		sweep();
		release("a");
		sweep();
		refused(ask("c", null));
		granted(ask("b", this.address));
	}

	@Test
	void keptLockStays() {
		require(Feature.KEEP);
		granted(acquire("a", LEASE));
		assertThat(store().keep(key(), "a", LEASE)).isTrue();
		sweep();
		refused(acquire("b", LEASE));
	}

	@Test
	void r11TokensGoOnToRise() throws Exception {
		List<Long> tokens = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			tokens.add(granted(acquire("a" + i, LEASE)));
			release("a" + i);
			sweep();
		}
		contract().setLastToken(4_000_000_000_000_000L);
		sweep();
		tokens.add(granted(acquire("b", LEASE)));
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
		assertThat(tokens).last().isEqualTo(4_000_000_000_000_001L);
	}

}
