package io.dlock.store.quorum;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;
import io.dlock.store.quorum.FaultyNode.Mode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Looks at the locks of a quorum while nodes fail.
 */
class QuorumInspectionTests extends AbstractQuorumTests {

	/**
	 * Each node has had a lock that made its first token.
	 */
	@BeforeEach
	void forgetTheFirstLock() {
		pass(LEASE);
	}

	@Test
	void locksAreKnownToAMajorityOnly() {
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		StoreInspection inspection = this.store.inspection();
		set(Mode.IS_DOWN, 0, 4);
		assertThat(this.store.find("key")).isPresent();
		assertThat(this.store.find("other")).isEmpty();
		assertThat(inspection.list(10).locks()).hasSize(1);
		set(Mode.IS_DOWN, 2);
		for (String key : List.of("key", "other")) {
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.store.find(key))
				.withMessageContaining("Too few lock nodes answered to look up a lock: 2 of 5")
				.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
		}
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> inspection.list(10))
			.withMessageContaining("Too few lock nodes answered to list the locks: 2 of 5");
	}

	/**
	 * A lock needs four of five votes.
	 */
	@Test
	void lockThatTooFewNodesKnowIsNotHeld() {
		QuorumLockStore careful = store(SETTINGS.withWrongClocks(1));
		set(Mode.IS_DOWN, 4);
		assertThat(acquire(careful, "a")).isInstanceOf(Granted.class);
		set(Mode.WORKS, 4);
		assertThat(careful.find("key")).isPresent();
		this.nodes.get(0).restartEmpty();
		assertThat(careful.find("key")).isEmpty();
		assertThat(careful.inspection().list(10).locks()).isEmpty();
	}

	/**
	 * The first node has so many other locks that its list ends before the lock.
	 */
	@Test
	void lockThatIsMissingInATruncatedListMayBeThere() {
		set(Mode.IS_DOWN, 3, 4);
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		set(Mode.WORKS, 3, 4);
		FaultyNode first = this.nodes.get(0);
		IntStream.range(0, 100)
			.forEach((i) -> first.acquire(new AcquireCommand("other" + i, "b", LEASE, "holder b", "")));
		assertThat(first.inspection().list(1).locks()).extracting(StoredLock::storageKey).doesNotContain("key");
		StoredLocks locks = this.store.inspection().list(1);
		assertThat(locks.locks()).extracting(StoredLock::storageKey).containsExactly("key");
		assertThat(locks.complete()).isFalse();
	}

	@Test
	void listOfAllLocksIsComplete() {
		assertThat(acquire(this.store, "a")).isInstanceOf(Granted.class);
		assertThat(this.store.inspection().list(1).complete()).isTrue();
		this.store.acquire(new AcquireCommand("other", "a", LEASE, "holder a", ""));
		assertThat(this.store.inspection().list(1)).satisfies((locks) -> assertThat(locks.locks()).hasSize(1))
			.satisfies((locks) -> assertThat(locks.complete()).isFalse());
	}

	@Test
	void diagnosisNamesTheNodesThatDoNotVoteYet() {
		List<FaultyNode> forgetful = FaultyNode.list(5, this.time::get, LEASE);
		pass(LEASE);
		forgetful.get(1).restart();
		QuorumLockStore quorum = store(forgetful, SETTINGS);
		assertThat(acquire(quorum, "a")).isInstanceOf(Granted.class);
		assertThat(warningsOfVotes(quorum))
			.containsExactly("node does not vote yet, because it may have forgotten votes");
		pass(LEASE);
		assertThat(acquire(quorum, "b")).isInstanceOf(Granted.class);
		assertThat(warningsOfVotes(quorum)).isEmpty();
	}

	private static List<String> warningsOfVotes(QuorumLockStore quorum) {
		return quorum.inspection()
			.diagnose()
			.warnings()
			.stream()
			.filter((warning) -> warning.contains("vote"))
			.toList();
	}

}
