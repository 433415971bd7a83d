package io.dlock.store.quorum;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.store.StoreException;
import io.dlock.store.quorum.FaultyNode.Mode;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The failure of an acquire when nodes fail in different ways.
 */
class QuorumFailureTests extends AbstractQuorumTests {

	/**
	 * One more vote or two would be enough, and this process asks one node for too much.
	 */
	@ParameterizedTest
	@CsvSource({ "2, false", "1, true" })
	void congestionOfTheNodeThatWouldDecideIsNoOutage(int voting, boolean outage) {
		for (int node = voting; node < 4; node++) {
			set(Mode.IS_DOWN, node);
		}
		QuorumLockStore crowded = new QuorumLockStore(this.nodes, SETTINGS.withCommandTimeout(Duration.ofHours(1)),
				this.time::get, List.of(), (node) -> (command) -> {
					if (node == 4) {
						throw new RejectedExecutionException();
					}
					command.run();
				});
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(crowded, "a"))
			.withMessageContaining(voting + " of 5")
			.matches((ex) -> ex.isOutage() == outage);
	}

	/**
	 * The others are enough as soon as they are back.
	 */
	@ParameterizedTest
	@CsvSource({ "2, false", "3, true" })
	void nodesThatRefuseForGoodEndTheWaitIfTheOthersAreTooFew(int refusing, boolean permanent) {
		this.nodes.subList(0, refusing).forEach(FaultyNode::refuse);
		set(Mode.IS_DOWN, 3);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(this.store, "a"))
			.withMessageContaining("of 5 lock nodes voted")
			.matches((ex) -> ex.isPermanent() == permanent);
	}

}
