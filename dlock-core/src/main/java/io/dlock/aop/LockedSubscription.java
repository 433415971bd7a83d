package io.dlock.aop;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

import io.dlock.LockHandle;
import io.dlock.ReactiveLockContext;

/**
 * One subscription to a locked method: acquires the lock, subscribes to what the method
 * returns, and releases the lock before it completes. A single value is kept back until
 * the lock is released.
 * <p>
 * Operators for resources do not do, because they lose a lock that is granted while the
 * subscriber cancels.
 */
final class LockedSubscription implements CoreSubscriber<Object>, Subscription {

	private final LockedCall call;

	private final Function<@Nullable Object, Publisher<?>> toPublisher;

	private final boolean single;

	private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.ACQUIRING);

	private final Upstream upstream = new Upstream();

	private final Downstream downstream;

	private final CallObservation observation;

	private volatile Context context;

	private volatile @Nullable CompletableFuture<LockHandle> acquired;

	private volatile LockKeeping keeping = LockKeeping.NONE;

	private volatile @Nullable LockHandle handle;

	LockedSubscription(LockedCall call, Function<@Nullable Object, Publisher<?>> toPublisher, boolean single,
			Subscriber<? super Object> subscriber) {
		this.call = call;
		this.toPublisher = toPublisher;
		this.single = single;
		CoreSubscriber<? super Object> core = Operators.toCoreSubscriber(subscriber);
		// the loss of the lock may end it while a value is on its way
		this.downstream = new Downstream((call.isInterrupting() && !single) ? Operators.serialize(core) : core);
		this.context = core.currentContext();
		this.observation = call.observe(this.context.getOrDefault(CallObservation.CONTEXT_KEY, null));
		Object observed = this.observation.value();
		if (observed != null) {
			this.context = this.context.put(CallObservation.CONTEXT_KEY, observed);
		}
	}

	@SuppressWarnings("FutureReturnValueIgnored") // the one it depends on is kept
	void start() {
		this.downstream.subscribe(this);
		if (this.downstream.isCancelled()) {
			return;
		}
		CompletableFuture<LockHandle> future;
		try {
			this.keeping = this.call.enter(this.context);
			future = this.keeping.acquire(
					ReactiveLockContext.find(this.context, this.call.key()).orElseGet(this.call::heldByThread),
					this.call::acquire);
		}
		catch (RuntimeException ex) {
			end(ex);
			return;
		}
		this.acquired = future;
		if (this.downstream.isCancelled()) {
			future.cancel(false);
		}
		// also when the lock is there at once: the thread of the method is no matter of
		// luck
		future.whenComplete((granted, failure) -> BodyThreads.executeOrRun(() -> answered(granted, failure)));
	}

	private void answered(@Nullable LockHandle granted, @Nullable Throwable failure) {
		if (!this.phase.compareAndSet(Phase.ACQUIRING, Phase.ASSEMBLING)) {
			// cancelled meanwhile
			if (granted != null) {
				this.keeping.giveBack(granted);
			}
			return;
		}
		Publisher<?> publisher;
		try {
			publisher = (granted != null) ? assemble(granted) : this.toPublisher
				.apply(this.call.instead(Objects.requireNonNull(failure), () -> null, this.observation));
		}
		catch (Throwable ex) {
			end(ex);
			return;
		}
		this.phase.set(Phase.RUNNING);
		if (this.downstream.isCancelled()) {
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
			// against the rules, or what Reactor lets through; no reason to keep the lock
			end(ex);
		}
	}

	private Publisher<?> assemble(LockHandle granted) throws Throwable {
		this.handle = this.keeping.keep(granted);
		this.context = ReactiveLockContext.bind(granted).apply(this.context);
		if (this.call.isLossIgnored()) {
			this.context = this.context.put(new ExemptLock(granted), true);
		}
		Object returned = this.call.run(granted, this.observation);
		if (returned == null) {
			throw new IllegalStateException(this.call + " returned null instead of a publisher");
		}
		Publisher<?> publisher = this.toPublisher.apply(returned);
		LogEntries logged = this.call.loggedElsewhere(granted);
		return (logged != null) ? ReactiveLogging.logged(publisher, logged) : publisher;
	}

	@Override
	public Context currentContext() {
		return this.context;
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		this.upstream.set(subscription);
	}

	@Override
	public void onNext(Object next) {
		if (this.phase.get() == Phase.ENDED) {
			Operators.onDiscard(next, this.context);
		}
		else if (this.single) {
			this.downstream.keep(next);
		}
		else {
			pass(next);
		}
	}

	private void pass(Object next) {
		try {
			Throwable unfinished = this.call.unfinished(next);
			if (unfinished != null) {
				throw unfinished;
			}
			this.downstream.next(next);
		}
		catch (Throwable ex) {
			// against the rules, or what Reactor lets through; no reason to keep the lock
			try {
				this.upstream.cancel();
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
		end(this.call.unfinished(this.downstream.kept()));
	}

	@Override
	public void request(long n) {
		if (Operators.validate(n)) {
			this.upstream.request(n);
		}
	}

	@Override
	public void cancel() {
		this.downstream.cancel();
		try {
			this.upstream.cancel();
		}
		finally {
			giveUp();
		}
	}

	/**
	 * The subscriber has cancelled. While the method itself runs, it keeps its lock.
	 */
	private void giveUp() {
		if (this.phase.compareAndSet(Phase.ACQUIRING, Phase.ENDED)) {
			CompletableFuture<LockHandle> waiting = this.acquired;
			if (waiting != null) {
				waiting.cancel(false);
			}
			this.observation.cancelled();
		}
		else if (this.phase.compareAndSet(Phase.RUNNING, Phase.ENDED)) {
			release(this.handle);
			this.observation.cancelled();
			this.downstream.discard(this.context);
		}
	}

	private void lose() {
		if (this.phase.compareAndSet(Phase.RUNNING, Phase.ENDED)) {
			try {
				this.upstream.cancel();
			}
			finally {
				BodyThreads.executeOrRun(() -> releaseAndTell(null));
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

	@SuppressWarnings("FutureReturnValueIgnored") // the lease ends anyway
	private static void release(@Nullable LockHandle granted) {
		if (granted != null) {
			granted.releaseAsync();
		}
	}

	@SuppressWarnings("FutureReturnValueIgnored")
	private void releaseAndTell(@Nullable Throwable failure) {
		LockHandle granted = this.handle;
		if (granted == null) {
			tell(failure);
			return;
		}
		CompletableFuture<@Nullable Void> released = LockedCall.release(granted);
		boolean now = released.isDone();
		released.whenComplete((done, loss) -> {
			Throwable outcome = this.call.outcome(failure, loss, this.observation);
			if (now) {
				tell(outcome);
			}
			else {
				// what follows may block, which the threads of the library must not
				BodyThreads.executeOrRun(() -> tell(outcome));
			}
		});
	}

	private void tell(@Nullable Throwable failure) {
		this.observation.end(failure);
		this.downstream.end(failure, this.context);
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
