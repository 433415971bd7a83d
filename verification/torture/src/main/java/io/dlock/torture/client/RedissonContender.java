package io.dlock.torture.client;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

import io.dlock.torture.history.Event;

/**
 * Redisson. A lock without a lease is renewed by its watchdog; one with a lease is not. A
 * holder is not told that its lock is lost, and asking takes a round trip each time, so
 * it believes to hold it. The command timeout is that of ours: with the default of three
 * seconds no renewal could be repeated within the lease.
 */
final class RedissonContender implements Contender {

	private static final int WATCHDOG = -1;

	private final RedissonClient client;

	private final boolean fenced;

	private final int timeout;

	RedissonContender(StoreAddress address, Duration lease, boolean fenced) {
		this.fenced = fenced;
		this.timeout = (int) lease.toMillis() / 10;
		Config config = new Config();
		config.setLockWatchdogTimeout(lease.toMillis());
		BaseConfig<?> server = configure(config, address);
		server.setTimeout(this.timeout);
		server.setConnectTimeout(this.timeout);
		this.client = Redisson.create(config);
	}

	private static BaseConfig<?> configure(Config config, StoreAddress address) {
		String[] nodes = address.nodes().stream().map((node) -> "redis://" + node).toArray(String[]::new);
		return switch (address.type()) {
			case REDIS_SENTINEL ->
				config.useSentinelServers().setMasterName(address.database()).addSentinelAddress(nodes);
			case REDIS_CLUSTER -> config.useClusterServers().addNodeAddress(nodes);
			default -> config.useSingleServer().setAddress(nodes[0]);
		};
	}

	@Override
	public Abilities abilities() {
		return new Abilities(this.fenced, false, true, true, TimeUnit.MILLISECONDS.toNanos(this.timeout),
				TimeUnit.MILLISECONDS.toNanos(100));
	}

	@Override
	public Outcome acquire(LockCall call) {
		long wait = call.waitTime().toMillis();
		long lease = call.renew() ? WATCHDOG : call.lease().toMillis();
		if (this.fenced) {
			RFencedLock lock = this.client.getFencedLock("redisson:" + call.key());
			return Peers.acquire(() -> {
				Long token = lock.tryLockAndGetToken(wait, lease, TimeUnit.MILLISECONDS);
				return (token != null) ? new Held(lock, Belief.now(call), token) : null;
			});
		}
		RLock lock = this.client.getLock("redisson:" + call.key());
		return Peers.acquire(
				() -> lock.tryLock(wait, lease, TimeUnit.MILLISECONDS) ? new Held(lock, Belief.now(call), 0) : null);
	}

	@Override
	public void close() {
		this.client.shutdown(0, 2, TimeUnit.SECONDS);
	}

	private record Held(RLock lock, Belief belief, long token) implements Holding {

		@Override
		public boolean isValid() {
			return this.belief.isHeld();
		}

		@Override
		public Event release() {
			return Peers.release(this.lock::unlock);
		}

	}

}
