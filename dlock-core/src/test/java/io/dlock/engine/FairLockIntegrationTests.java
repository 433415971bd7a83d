package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.dlock.LockHandle;
import io.dlock.store.LockStore;
import io.dlock.test.ShortTurns;

/**
 * Fair requests of three instances on real servers.
 */
@Timeout(300)
class FairLockIntegrationTests {

	private static final int REQUESTS = 60;

	@ParameterizedTest
	@MethodSource("io.dlock.engine.TwoProcessesIntegrationTests#stores")
	void requestsAreServedInTheOrderInWhichTheStoreSawThem(String address) {
		List<LockStore> stores = Stream.generate(() -> HolderProcess.store(address, Duration.ofSeconds(10)))
			.limit(3)
			.toList();
		try (FairRequests requests = new FairRequests(stores)) {
			LockHandle held = requests.registry(0).acquireAsync(requests.fair).join();
			for (int i = 0; i < REQUESTS; i++) {
				requests.request(i, requests.fair);
			}
			held.release();
			requests.assertGrantedInOrder(REQUESTS);
		}
	}

	@ParameterizedTest
	@MethodSource("io.dlock.engine.TwoProcessesIntegrationTests#stores")
	void turnsOfFiftyMillisecondsAreEnough(String address) {
		ShortTurns.await(() -> FairRequests.areServedInOrder(
				Stream.generate(() -> HolderProcess.store(address, Duration.ofSeconds(10))).limit(3).toList()));
	}

}
