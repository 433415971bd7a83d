package io.dlock.store.quorum;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.quorum.FaultyNode.Mode;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Nodes that have lost their data do not vote for the longest lease.
 */
class QuorumQuarantineTests extends AbstractQuorumTests {

	@Test
	void nodeThatLostItsDataDoesNotVoteForTheLongestLease() {
		List<FaultyNode> forgetful = FaultyNode.list(5, this.time::get, LEASE);
		pass(LEASE);
		forgetful.get(3).set(Mode.IS_DOWN);
		forgetful.get(4).set(Mode.IS_DOWN);
		assertThat(acquire(store(forgetful, SETTINGS), "a")).isInstanceOf(Granted.class);
		forgetful.get(3).set(Mode.WORKS);
		forgetful.get(4).set(Mode.WORKS);
		forgetful.get(0).restartEmpty();
		pass(YOUNG);
		QuorumLockStore other = store(forgetful, SETTINGS);
		assertThat(acquire(other, "b")).as("0, 3 and 4 would be a majority").isInstanceOf(Refused.class);
		assertThat(other.nodes()).extracting(QuorumNodeStatus::voting).containsExactly(false, true, true, true, true);
		assertThat(other.quarantine()).contains(Duration.ZERO);
		pass(LEASE);
		assertThat(acquire(other, "b")).isInstanceOf(Granted.class);
	}

	@Test
	void quarantineOfAMajorityIsNotBusy() {
		List<FaultyNode> forgetful = FaultyNode.list(5, this.time::get, LEASE);
		pass(LEASE);
		QuorumLockStore quorum = store(forgetful, SETTINGS);
		assertThat(acquire(quorum, "a")).isInstanceOf(Granted.class);
		forgetful.get(0).restartEmpty();
		pass(LEASE.dividedBy(5));
		forgetful.get(1).restartEmpty();
		pass(LEASE.dividedBy(5));
		forgetful.get(2).restartEmpty();
		assertThatExceptionOfType(StoreQuarantinedException.class)
			.isThrownBy(() -> acquire(store(forgetful, SETTINGS), "b"))
			.satisfies((ex) -> assertThat(ex.remaining()).as("until the first of the three votes")
				.isEqualTo(LEASE.multipliedBy(3).dividedBy(5)));
		assertThat(renew(quorum, "a")).as("two of five know it").isEqualTo(RenewResult.REFUSED);
	}

	/**
	 * One of five nodes votes. The next of the others is not enough.
	 */
	@Test
	void quarantineLastsUntilEnoughNodesVote() {
		List<FaultyNode> forgetful = FaultyNode.list(5, this.time::get, LEASE);
		pass(LEASE);
		for (FaultyNode node : forgetful.subList(1, 5)) {
			node.restart();
			pass(LEASE.dividedBy(10));
		}
		Duration rest = LEASE.multipliedBy(7).dividedBy(10);
		QuorumLockStore quorum = store(forgetful, SETTINGS);
		assertThatExceptionOfType(StoreQuarantinedException.class).isThrownBy(() -> acquire(quorum, "a"));
		assertThat(quorum.quarantine()).contains(rest);
		pass(rest.minusNanos(1));
		assertThatExceptionOfType(StoreQuarantinedException.class).isThrownBy(() -> acquire(quorum, "a"))
			.satisfies((ex) -> assertThat(ex.remaining()).isEqualTo(Duration.ofNanos(1)));
		pass(Duration.ofNanos(1));
		assertThat(acquire(quorum, "a")).isInstanceOf(Granted.class);
	}

	/**
	 * The state of the health is asked for with the lock that it takes, within one
	 * command timeout.
	 */
	@Test
	void quarantineOfAMajorityIsKnownAlthoughTheOthersHang() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, LEASE);
		QuorumLockStore hanging = new QuorumLockStore(three, SETTINGS.withCommandTimeout(Duration.ofMinutes(9)),
				this.time::get, List.of(), (node) -> (command) -> {
					if (node < 2) {
						command.run();
					}
				});
		assertThat(CompletableFuture.supplyAsync(() -> acquire(hanging, "a"))).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(StoreQuarantinedException.class);
	}

	@Test
	void quarantineAndOutageThatLeaveNoMajorityAreNotBusy() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, LEASE);
		pass(LEASE);
		three.get(0).restart();
		three.get(1).set(Mode.IS_DOWN);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(store(three, SETTINGS), "a"))
			.withMessageContaining("1 of 3")
			.isNotInstanceOf(StoreQuarantinedException.class);
		three.get(1).set(Mode.WORKS);
		assertThat(acquire(store(three, SETTINGS), "b")).as("nothing is left").isInstanceOf(Granted.class);
	}

	@Test
	void lockThatIsPassedOnInAQuarantineIsReleased() {
		List<FaultyNode> three = FaultyNode.list(3, this.time::get, LEASE);
		pass(LEASE);
		QuorumLockStore quorum = store(three, SETTINGS);
		assertThat(acquire(quorum, "a")).isInstanceOf(Granted.class);
		three.forEach(FaultyNode::restart);
		assertThatExceptionOfType(StoreQuarantinedException.class)
			.isThrownBy(() -> quorum.acquire(new AcquireCommand("key", "b", LEASE, "", "", null, false, "a")));
		assertThat(three).allMatch((node) -> node.find("key").isEmpty());
	}

	@Test
	void leaseThatANodeRefusesIsAMisuse() {
		List<RedisLockStore> nodes = Stream.generate(QuorumQuarantineTests::withQuarantine).limit(3).toList();
		try (QuorumLockStore quorum = new QuorumLockStore(nodes, SETTINGS.withCommandTimeout(Patience.COMMAND))) {
			assertThatIllegalArgumentException().isThrownBy(() -> acquire(quorum, "a"))
				.withMessageContaining("longest lease");
		}
	}

	private static RedisLockStore withQuarantine() {
		return new RedisLockStore(new LettuceConnectionFactory("127.0.0.1", 1),
				RedisLockStoreSettings.defaults().withQuarantine(new Quarantine(LEASE.minusMillis(1), Duration.ZERO)));
	}

}
