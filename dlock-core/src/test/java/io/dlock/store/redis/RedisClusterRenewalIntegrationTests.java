package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.redis.RedisClusterIntegrationTests.Client;
import io.dlock.store.redis.RedisClusterIntegrationTests.Clustered;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Renewals of more leases than are sent at once.
 */
class RedisClusterRenewalIntegrationTests extends AbstractRedisClusterTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	private static final Duration LEASE = Duration.ofSeconds(100);

	private final List<RenewCommand> renewals = IntStream.range(0, 6000)
		.mapToObj((i) -> new RenewCommand("key" + i, "owner", LEASE))
		.toList();

	/**
	 * The second timeout is that of all leases behind the first of them.
	 */
	@ParameterizedTest
	@EnumSource
	@Timing
	void nodeThatHangsCostsTwoTimeoutsHoweverManyLeasesThereAre(Client client) throws Exception {
		try (MachineWatch watch = MachineWatch.start();
				Clustered clustered = new Clustered(this.nodes.get(0), client, TIMEOUT)) {
			RedisLockStore store = Patience.connected(clustered.store());
			assertThat(store.renew(this.renewals)).containsOnly(RenewResult.REFUSED);
			this.nodes.get(2).pause();
			assertThat(watch
				.time(() -> assertThat(store.renew(this.renewals)).contains(RenewResult.REFUSED, RenewResult.UNKNOWN)))
				.isLessThan(TIMEOUT.multipliedBy(7).dividedBy(2));
		}
	}

}
