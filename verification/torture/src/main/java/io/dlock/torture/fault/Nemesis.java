package io.dlock.torture.fault;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

import io.dlock.test.TcpProxy;

/**
 * Inflicts a plan.
 */
public final class Nemesis {

	private static final long PATIENCE_SECONDS = 180;

	private final Bed bed;

	private final Timeline timeline;

	private final ConcurrentHashMap<String, ReentrantLock> resources = new ConcurrentHashMap<>();

	private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();

	private final ConcurrentLinkedQueue<String> disturbances = new ConcurrentLinkedQueue<>();

	private final LongAdder keys = new LongAdder();

	private final CountDownLatch healing = new CountDownLatch(1);

	private volatile boolean ended;

	/**
	 * Create a nemesis.
	 * @param bed what it may break
	 * @param timeline where it says so
	 */
	public Nemesis(Bed bed, Timeline timeline) {
		this.bed = bed;
		this.timeline = timeline;
	}

	/**
	 * Inflict all faults, and return when the last of them is over.
	 * @param plan the faults, ordered by start
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	public void run(List<PlannedFault> plan) throws InterruptedException {
		ExecutorService executor = Executors.newCachedThreadPool();
		long start = System.nanoTime();
		try {
			for (PlannedFault fault : plan) {
				long wait = start + Duration.ofMillis(fault.at()).toNanos() - System.nanoTime();
				if (this.healing.await(Math.max(0, wait), TimeUnit.NANOSECONDS)) {
					break;
				}
				executor.execute(() -> inflict(fault));
			}
		}
		finally {
			executor.shutdown();
			if (!executor.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
				this.failures.add("A fault does not end");
				// those that still wait for it would begin after the healing
				this.ended = true;
				executor.shutdownNow();
				executor.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
			}
		}
	}

	/**
	 * End all faults now.
	 */
	public void heal() {
		this.healing.countDown();
		this.bed.links().forEach(TcpProxy::heal);
	}

	/**
	 * The faults that were not possible.
	 * @return a line for each
	 */
	public List<String> failures() {
		return List.copyOf(this.failures);
	}

	/**
	 * The disturbances of the application beside the locks that must not happen.
	 * @return a line for each
	 */
	public List<String> disturbances() {
		return List.copyOf(this.disturbances);
	}

	/**
	 * How many keys were locked beside those of the histories.
	 * @return the number
	 */
	public int keys() {
		return this.keys.intValue();
	}

	/**
	 * Inflict a fault when what it needs is free: the one before may have taken longer
	 * than planned.
	 */
	private void inflict(PlannedFault fault) {
		List<String> needed = fault.type().scope().resources(fault.target(), this.bed.sizes());
		List<ReentrantLock> locks = needed.stream()
			.sorted()
			.map((name) -> this.resources.computeIfAbsent(name, (key) -> new ReentrantLock(true)))
			.toList();
		locks.forEach(ReentrantLock::lock);
		try {
			if (!this.ended && isReady(needed)) {
				inflictNow(fault);
			}
		}
		finally {
			locks.forEach(ReentrantLock::unlock);
		}
	}

	private boolean isReady(List<String> needed) {
		try {
			if (needed.contains(Scope.STORE.target(0))) {
				this.bed.store().awaitReady();
			}
			return true;
		}
		catch (IOException ex) {
			this.failures.add("The store is not ready: " + ex);
			return false;
		}
	}

	private void inflictNow(PlannedFault fault) {
		try {
			this.timeline.start(fault, description(fault));
			Infliction infliction = new Infliction(this.bed, fault, this.healing, this.timeline);
			try {
				fault.type().action().inflict(infliction);
			}
			finally {
				this.disturbances.addAll(infliction.disturbances());
			}
			healLinks(fault);
			this.keys.add(infliction.keys());
			this.timeline.end(fault, infliction.effect());
		}
		catch (Exception ex) {
			healLinks(fault);
			this.failures.add(fault + ": " + ex);
			this.timeline.end(fault, " FAILED " + ex);
		}
	}

	private String description(PlannedFault fault) {
		return switch (fault.type().scope()) {
			case CLIENT, LIFE, INSIDE, INSIDE_ALONE, CLIENT_AND_LINK, CLIENT_AND_NOTHING_ELSE ->
				" pid=" + this.bed.clients().get(fault.target()).pid();
			default -> "";
		};
	}

	private void healLinks(PlannedFault fault) {
		switch (fault.type().scope()) {
			case LINKS, LINKS_AND_STORE_CLOCK -> this.bed.links().forEach(TcpProxy::heal);
			case LINK, NODE_LINK, CLIENT_AND_LINK -> this.bed.links().get(fault.target()).heal();
			default -> {
			}
		}
	}

}
