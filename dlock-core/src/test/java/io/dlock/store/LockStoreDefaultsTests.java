package io.dlock.store;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.mockito.Answers;

import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.StoreException.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

/**
 * The methods that a store need not implement.
 */
class LockStoreDefaultsTests {

	private final LockStore store = mock(LockStore.class, Answers.CALLS_REAL_METHODS);

	/**
	 * The release of a set of 64 locks would otherwise take 64 timeouts.
	 */
	@Test
	void releasesEndWithTheFirstThatHasNoAnswer() {
		given(this.store.release("a", "owner")).willReturn(true);
		given(this.store.release("b", "owner")).willThrow(new StoreException(Effect.UNKNOWN, false, "silence", null));
		List<ReleaseCommand> releases = List.of(new ReleaseCommand("a", "owner"), new ReleaseCommand("b", "owner"),
				new ReleaseCommand("c", "owner"));
		assertThat(this.store.releaseAll(releases)).containsExactly(ReleaseResult.RELEASED, ReleaseResult.UNKNOWN,
				ReleaseResult.UNKNOWN);
		then(this.store).should(never()).release("c", "owner");
	}

}
