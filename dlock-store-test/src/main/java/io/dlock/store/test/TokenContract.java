package io.dlock.store.test;

import java.time.Instant;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tokens rise from owner to owner, whatever happens to the data and to the clock of the
 * store.
 */
abstract class TokenContract extends ContractPart {

	TokenContract(LockStoreContract contract) {
		super(contract);
	}

	@Test
	void r11TokensRiseFromOwnerToOwner() {
		long last = 0;
		for (int i = 0; i < 20; i++) {
			long token = granted(acquire("owner-" + i, LEASE));
			assertThat(token).isGreaterThan(last);
			last = token;
			store().release(key(), "owner-" + i);
		}
	}

	@Test
	void r12TokensRiseAfterTheStoreLostItsData() throws Exception {
		long before = granted(acquire("a", LEASE));
		contract().loseEverything();
		assertThat(granted(acquire("b", LEASE))).isGreaterThan(before);
	}

	@Test
	void r12TokensAreMicrosecondsOfTheClock() {
		long token = granted(acquire("a", LEASE));
		assertThat(Instant.ofEpochSecond(token / 1_000_000)).isBetween(Instant.now().minusSeconds(3600),
				Instant.now().plusSeconds(3600));
	}

	/**
	 * The clock may be behind the last token as long as that is known.
	 */
	@Test
	void r14TokensRiseThoughTheClockIsBehindTheLastOne() throws Exception {
		granted(acquire("a", LEASE));
		release("a");
		long future = 4_000_000_000_000_000L;
		contract().setLastToken(future);
		assertThat(granted(acquire("b", LEASE))).isEqualTo(future + 1);
		release("b");
		assertThat(granted(acquire("c", LEASE))).isEqualTo(future + 2);
	}

}
