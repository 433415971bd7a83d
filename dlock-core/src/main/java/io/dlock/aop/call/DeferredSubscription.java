package io.dlock.aop.call;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/**
 * A subscription that arrives later. Reactor's own deferred one cannot be cancelled while
 * a source emits all that was requested meanwhile, which may be without an end.
 */
final class DeferredSubscription implements Subscription {

	private final AtomicReference<@Nullable Subscription> subscription = new AtomicReference<>();

	/** Requested before the subscription arrived. */
	private final AtomicLong requested = new AtomicLong();

	/**
	 * Set the actual subscription.
	 */
	void set(Subscription arrived) {
		if (this.subscription.compareAndSet(null, arrived)) {
			requestFrom(arrived);
		}
		else {
			arrived.cancel();
		}
	}

	@Override
	public void request(long n) {
		Subscription current = this.subscription.get();
		if (current != null) {
			current.request(n);
			return;
		}
		this.requested.accumulateAndGet(n, Operators::addCap);
		current = this.subscription.get();
		if (current != null) {
			requestFrom(current);
		}
	}

	private void requestFrom(Subscription current) {
		long outstanding = this.requested.getAndSet(0);
		if (outstanding > 0) {
			current.request(outstanding);
		}
	}

	@Override
	public void cancel() {
		Subscription current = this.subscription.getAndSet(Operators.cancelledSubscription());
		if (current != null) {
			current.cancel();
		}
	}

}
