package io.dlock.aop.call;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import org.springframework.core.ReactiveAdapter;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

import io.dlock.LockSet;
import io.dlock.observation.CallObservation;

/**
 * One subscription to a locked method: acquires the lock, subscribes to what the method
 * returns, and releases the lock before it completes. A single value is kept back until
 * the lock is released.
 * <p>
 * Reactor's operators for resources would lose a lock that is granted while the
 * subscriber cancels.
 */
final class ReactiveCall implements CoreSubscriber<Object>, Subscription {

	private final AsyncCall call;

	private final ReactiveAdapter adapter;

	private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.ACQUIRING);

	private final DeferredSubscription source = new DeferredSubscription();

	private final ResultEmitter emitter;

	private final CallObservation observation;

	private volatile Context context;

	private volatile @Nullable CompletableFuture<LockSet> acquired;

	private volatile @Nullable LockSet locks;

	private ReactiveCall(AsyncCall call, ReactiveAdapter adapter, Subscriber<? super Object> subscriber) {
		this.call = call;
		this.adapter = adapter;
		CoreSubscriber<? super Object> core = Operators.toCoreSubscriber(subscriber);
		// the loss of the lock may end it while a value is on its way
		this.emitter = new ResultEmitter(
				(call.isInterrupting() && adapter.isMultiValue()) ? Operators.serialize(core) : core);
		this.context = core.currentContext();
		call.observe(this.context.getOrDefault(CallObservation.CONTEXT_KEY, null));
		this.observation = call.observation();
		Object observed = this.observation.value();
		if (observed != null) {
			this.context = this.context.put(CallObservation.CONTEXT_KEY, observed);
		}
	}

	/**
	 * Call the method, which runs when the result is subscribed to.
	 */
	static Object invoke(LockedOperation operation, MethodInvocation invocation, InvocationSupport support) {
		ReactiveAdapter adapter = Objects.requireNonNull(operation.returnType().adapter());
		Publisher<Object> locked;
		try {
			AsyncCall call = new AsyncCall(operation, invocation, support);
			locked = (subscriber) -> new ReactiveCall(new AsyncCall(call), adapter, subscriber).start();
		}
		catch (RuntimeException ex) {
			locked = Flux.error(ex);
		}
		return adapter.fromPublisher(adapter.isMultiValue() ? Flux.from(locked) : Mono.fromDirect(locked));
	}

	@SuppressWarnings("FutureReturnValueIgnored") // the one it depends on is kept
	private void start() {
		this.emitter.subscribe(this);
		if (this.emitter.isCancelled()) {
			return;
		}
		CompletableFuture<LockSet> future;
		try {
			this.call.enterTransaction(this.context);
			future = this.call.acquire(this.context);
		}
		catch (RuntimeException ex) {
			end(ex);
			return;
		}
		this.acquired = future;
		if (this.emitter.isCancelled()) {
			future.cancel(false);
		}
		Runnable body = LockedMethodExecutor.inContext(() -> answered(future));
		// also if the lock is granted at once, so that the method never runs on the
		// thread of the subscriber
		future.whenComplete((granted, failure) -> LockedMethodExecutor.executeOrRun(body));
	}

	private void answered(CompletableFuture<LockSet> future) {
		LockSet granted;
		try {
			granted = future.join();
		}
		catch (RuntimeException ex) {
			answered(null, ex);
			return;
		}
		answered(granted, null);
	}

	private void answered(@Nullable LockSet granted, @Nullable Throwable failure) {
		if (!this.phase.compareAndSet(Phase.ACQUIRING, Phase.ASSEMBLING)) {
			// the subscriber has cancelled
			if (granted != null) {
				this.call.giveBack(granted);
			}
			return;
		}
		Publisher<?> publisher;
		try {
			publisher = (granted != null) ? assemble(granted)
					: this.adapter.toPublisher(this.call.runWithoutLock(Objects.requireNonNull(failure)));
		}
		catch (Throwable ex) {
			end(ex);
			return;
		}
		this.phase.set(Phase.RUNNING);
		if (this.emitter.isCancelled()) {
			giveUp();
			return;
		}
		if (granted != null && this.call.isInterrupting()) {
			granted.onLost((lost) -> lose());
		}
		try {
			publisher.subscribe(this);
		}
		catch (Throwable ex) {
			// publishers must not throw, but the lock must not leak if one does
			end(ex);
		}
	}

	private Publisher<?> assemble(LockSet granted) throws Throwable {
		this.locks = this.call.keep(granted);
		this.context = this.call.bind(granted, this.context);
		Object returned = this.call.runBound(granted);
		if (returned == null) {
			throw new IllegalStateException(this.call + " returned null instead of a publisher");
		}
		Publisher<?> publisher = this.adapter.toPublisher(returned);
		MdcEntries logged = this.call.loggedElsewhere(granted);
		return (logged != null) ? logged(publisher, logged) : publisher;
	}

	/**
	 * Let what a publisher does be logged with a lock.
	 */
	private static Publisher<?> logged(Publisher<?> publisher, MdcEntries entries) {
		return (publisher instanceof Mono<?> mono)
				? mono.contextWrite((context) -> context.put(MdcEntriesAccessor.KEY, entries))
				: Flux.from(publisher).contextWrite((context) -> context.put(MdcEntriesAccessor.KEY, entries));
	}

	@Override
	public Context currentContext() {
		return this.context;
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		this.source.set(subscription);
	}

	@Override
	public void onNext(Object next) {
		if (this.phase.get() == Phase.ENDED) {
			Operators.onDiscard(next, this.context);
		}
		else if (this.adapter.isMultiValue()) {
			pass(next);
		}
		else {
			this.emitter.keep(next);
		}
	}

	private void pass(Object next) {
		try {
			Throwable unfinished = this.call.unfinished(next);
			if (unfinished != null) {
				throw unfinished;
			}
			this.emitter.next(next);
		}
		catch (Throwable ex) {
			try {
				this.source.cancel();
			}
			finally {
				end(ex);
			}
		}
	}

	@Override
	public void onError(Throwable failure) {
		end(failure);
	}

	@Override
	public void onComplete() {
		end(null);
	}

	@Override
	public void request(long n) {
		if (Operators.validate(n)) {
			this.source.request(n);
		}
	}

	@Override
	public void cancel() {
		this.emitter.cancel();
		try {
			this.source.cancel();
		}
		finally {
			giveUp();
		}
	}

	/**
	 * The subscriber has cancelled. While the method itself runs, it keeps its lock.
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // the lease ends anyway
	private void giveUp() {
		if (this.phase.compareAndSet(Phase.ACQUIRING, Phase.ENDED)) {
			CompletableFuture<LockSet> waiting = this.acquired;
			if (waiting != null) {
				waiting.cancel(false);
			}
			this.observation.cancelled();
		}
		else if (this.phase.compareAndSet(Phase.RUNNING, Phase.ENDED)) {
			LockSet granted = this.locks;
			if (granted != null) {
				granted.releaseAsync();
			}
			this.observation.cancelled();
			this.emitter.discard(this.context);
		}
	}

	private void lose() {
		if (this.phase.compareAndSet(Phase.RUNNING, Phase.ENDED)) {
			try {
				this.source.cancel();
			}
			finally {
				LockedMethodExecutor.executeOrRun(() -> releaseAndTell(null));
			}
		}
	}

	private void end(@Nullable Throwable failure) {
		if (this.phase.getAndSet(Phase.ENDED) != Phase.ENDED) {
			releaseAndTell(failure);
		}
		else if (failure != null) {
			Operators.onErrorDropped(failure, this.context);
		}
	}

	private void releaseAndTell(@Nullable Throwable failure) {
		LockSet granted = this.locks;
		if (granted != null) {
			this.call.end(granted, this.emitter.kept(), failure, this::tell);
		}
		else {
			tell(failure);
		}
	}

	private void tell(@Nullable Throwable failure) {
		this.observation.end(failure);
		this.emitter.end(failure, this.context);
	}

	private enum Phase {

		/** There is no lock yet. */
		ACQUIRING,

		/** The method runs and makes a publisher. */
		ASSEMBLING,

		/** The publisher has been subscribed to. */
		RUNNING,

		/** The lock is released or will never be there. */
		ENDED

	}

}
