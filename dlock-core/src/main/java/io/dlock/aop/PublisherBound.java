package io.dlock.aop;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.Assert;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * For methods that return a reactive type, and for suspending functions, which Spring
 * turns into publishers for those who intercept them.
 */
final class PublisherBound implements CompletionBound {

	private final ReactiveAdapter adapter;

	private final boolean canBeEmpty;

	private PublisherBound(ReactiveAdapter adapter, boolean canBeEmpty) {
		this.adapter = adapter;
		this.canBeEmpty = canBeEmpty;
	}

	/**
	 * For a method that returns a reactive type.
	 * @param adapter the adapter of the type
	 * @return what to do
	 */
	static CompletionBound of(ReactiveAdapter adapter) {
		return new PublisherBound(adapter, adapter.supportsEmpty());
	}

	/**
	 * For a suspending function.
	 * @param flow whether it returns a flow
	 * @param canBeEmpty whether it may return nothing
	 * @return what to do
	 */
	static CompletionBound ofSuspending(boolean flow, boolean canBeEmpty) {
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance()
			.getAdapter(flow ? Flux.class : Mono.class);
		Assert.state(adapter != null, "Reactor is not known to ReactiveAdapterRegistry");
		return new PublisherBound(adapter, canBeEmpty);
	}

	@Override
	public Object invoke(LockedOperation operation, MethodInvocation invocation, Surroundings surroundings) {
		boolean single = !this.adapter.isMultiValue();
		Publisher<Object> locked;
		try {
			LockedCall call = new LockedCall(operation, invocation, surroundings);
			locked = (subscriber) -> new LockedSubscription(call, this::toPublisher, single, subscriber).start();
		}
		catch (RuntimeException ex) {
			locked = Flux.error(ex);
		}
		return this.adapter.fromPublisher(single ? Mono.fromDirect(locked) : Flux.from(locked));
	}

	private Publisher<?> toPublisher(@Nullable Object returned) {
		return this.adapter.toPublisher(returned);
	}

	@Override
	public boolean canBeEmpty() {
		return this.canBeEmpty;
	}

	@Override
	public boolean isReactive() {
		return true;
	}

}
