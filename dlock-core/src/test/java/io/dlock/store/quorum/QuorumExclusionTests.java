package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.quorum.FaultyNode.Mode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No two processes hold a lock at a time, and tokens rise, in random schedules of faults
 * on any two of five nodes at a time. A seed repeats its schedule.
 */
class QuorumExclusionTests {

	private static final Duration LEASE = Duration.ofSeconds(10);

	private static final int SCHEDULES = 200;

	private static final int STEPS = 200;

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void noTwoHoldersOverlapWhileAMinorityFails(int wrongClocks) {
		int grants = 0;
		for (int seed = 0; seed < SCHEDULES; seed++) {
			grants += new Schedule(seed, wrongClocks).run();
		}
		assertThat(grants).isGreaterThan(5 * SCHEDULES);
	}

	private static final class Schedule {

		private final AtomicLong time = new AtomicLong();

		private final List<FaultyNode> nodes = FaultyNode.list(5, this.time::get, LEASE);

		private final List<Client> clients = new ArrayList<>();

		private final Random random;

		private final int seed;

		private final int wrongClocks;

		private long lastToken;

		private int grants;

		Schedule(int seed, int wrongClocks) {
			this.seed = seed;
			this.random = new Random(seed);
			this.wrongClocks = wrongClocks;
			QuorumSettings settings = new QuorumSettings(Duration.ofMillis(5), wrongClocks);
			for (int i = 0; i < 3; i++) {
				this.clients.add(new Client(
						new QuorumLockStore(this.nodes, settings, this.time::get, List.of(), (node) -> Runnable::run)));
			}
		}

		int run() {
			this.clients.forEach((client) -> client.store.verify());
			this.time.addAndGet(LEASE.toNanos());
			for (int step = 0; step < STEPS; step++) {
				if (this.random.nextInt(4) == 0) {
					fail();
				}
				act(this.clients.get(this.random.nextInt(this.clients.size())));
				this.time.addAndGet(this.random.nextLong(LEASE.toNanos() / 5));
			}
			return this.grants;
		}

		private void fail() {
			this.nodes.forEach((node) -> node.set(Mode.WORKS));
			this.nodes.get(this.random.nextInt(5)).deliver();
			for (int i = 0; i < 2; i++) {
				FaultyNode node = this.nodes.get(this.random.nextInt(5));
				node.set(Mode.values()[this.random.nextInt(Mode.values().length)]);
				if (this.random.nextInt(8) == 0) {
					node.restartEmpty();
				}
			}
			if (this.wrongClocks > 0) {
				this.nodes.get(0).stepClock(LEASE.multipliedBy(this.random.nextInt(2)));
			}
		}

		private void act(Client client) {
			try {
				if (!client.holds(this.time.get())) {
					acquire(client);
				}
				else if (this.random.nextInt(3) == 0) {
					client.until = 0;
					client.store.release("key", client.owner);
				}
				else {
					renew(client);
				}
			}
			catch (StoreException ex) {
				// no answer: the engine tries again or lets the lease end
			}
		}

		private void acquire(Client client) {
			if (client.granted || this.random.nextBoolean()) {
				client.owner = "owner " + this.random.nextInt();
			}
			client.granted = false;
			long begin = this.time.get();
			if (client.store
				.acquire(new AcquireCommand("key", client.owner, LEASE, "", "")) instanceof Granted granted) {
				client.until = begin + LEASE.toNanos();
				client.granted = true;
				this.grants++;
				assertThat(this.clients.stream().filter((each) -> each.holds(this.time.get())))
					.as("holders in schedule " + this.seed)
					.hasSize(1);
				assertThat(granted.token()).as("token in schedule " + this.seed).isGreaterThan(this.lastToken);
				this.lastToken = granted.token();
			}
		}

		private void renew(Client client) {
			long begin = this.time.get();
			RenewResult result = client.store.renew(List.of(new RenewCommand("key", client.owner, LEASE))).get(0);
			if (result == RenewResult.RENEWED) {
				client.until = begin + LEASE.toNanos();
			}
			else if (result == RenewResult.REFUSED) {
				client.until = 0;
			}
		}

	}

	private static final class Client {

		private final QuorumLockStore store;

		private String owner = UUID.randomUUID().toString();

		private long until;

		private boolean granted;

		Client(QuorumLockStore store) {
			this.store = store;
		}

		boolean holds(long now) {
			return now < this.until;
		}

	}

}
