package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.store.LockStore;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests of several instances for one key, whose order the test knows.
 */
final class FairRequests implements AutoCloseable {

	private static final LockSettings SETTINGS = LockSettings.builder()
		.commandTimeout(Duration.ofSeconds(5))
		.waitTime(LockRequest.FOREVER)
		.shutdownTimeout(Duration.ZERO)
		.build();

	final LockRequest fair = LockRequest.builder("fair/" + UUID.randomUUID()).fair(true).build();

	final List<PatientStore> stores;

	final List<LeaseLockRegistry> registries;

	final List<Integer> granted = Collections.synchronizedList(new ArrayList<>());

	final List<CompletableFuture<Void>> done = new ArrayList<>();

	FairRequests(List<? extends LockStore> stores) {
		this(stores, "9000");
	}

	/**
	 * Create requests that have a given time for their turn.
	 * @param reservation four digits, the milliseconds
	 */
	FairRequests(List<? extends LockStore> stores, String reservation) {
		this.stores = stores.stream().map((store) -> new PatientStore(store, reservation)).toList();
		this.registries = this.stores.stream().map((store) -> new LeaseLockRegistry(store, SETTINGS)).toList();
	}

	/**
	 * Send a request from one of the instances, and wait until it is queued.
	 */
	CompletableFuture<LockHandle> request(int number, LockRequest request) {
		int queued = queued();
		CompletableFuture<LockHandle> handle = registry(number).acquireAsync(request);
		this.done.add(handle.thenCompose((granted) -> {
			this.granted.add(number);
			return granted.releaseAsync();
		}).thenAccept((released) -> {
		}));
		awaitQueued(queued + 1);
		return handle;
	}

	LeaseLockRegistry registry(int number) {
		return this.registries.get(number % this.registries.size());
	}

	int queued() {
		return this.stores.stream().mapToInt((store) -> store.queued().size()).sum();
	}

	void awaitQueued(int requests) {
		long start = System.nanoTime();
		while (queued() < requests) {
			LockSupport.parkNanos(100_000);
			assertThat(System.nanoTime() - start).as("queued: " + queued()).isLessThan(Patience.EVENTUALLY.toNanos());
		}
	}

	void assertGrantedInOrder(int requests) {
		assertThat(CompletableFuture.allOf(this.done.toArray(CompletableFuture[]::new)))
			.succeedsWithin(Patience.EVENTUALLY);
		assertThat(this.granted).isEqualTo(IntStream.range(0, requests).boxed().toList());
		assertThat(this.registries).allMatch((registry) -> registry.queues().size() == 0);
	}

	/**
	 * Whether a few requests are served in their order with the reservation of 50 ms that
	 * instances really have. A thread that stands still misses a turn.
	 */
	static boolean areServedInOrder(List<? extends LockStore> stores) {
		try (FairRequests requests = new FairRequests(stores, "0050")) {
			requests.registries.forEach((registry) -> registry.membership().listen());
			Awaitility.await()
				.until(() -> requests.registries.stream().allMatch((registry) -> registry.membership().isListening()));
			LockHandle held = requests.registry(0).acquireAsync(requests.fair).join();
			for (int i = 0; i < 15; i++) {
				requests.request(i, requests.fair);
			}
			held.release();
			assertThat(CompletableFuture.allOf(requests.done.toArray(CompletableFuture[]::new)))
				.succeedsWithin(Patience.EVENTUALLY);
			return requests.granted.equals(IntStream.range(0, 15).boxed().toList());
		}
	}

	@Override
	public void close() {
		this.registries.forEach(LeaseLockRegistry::close);
		this.stores.forEach(PatientStore::close);
	}

}
