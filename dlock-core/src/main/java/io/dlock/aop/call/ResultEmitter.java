package io.dlock.aop.call;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * The subscriber of a locked method. A single value is kept back until the lock is
 * released.
 */
final class ResultEmitter {

	private final CoreSubscriber<? super Object> subscriber;

	private volatile @Nullable Object kept;

	private volatile boolean cancelled;

	ResultEmitter(CoreSubscriber<? super Object> subscriber) {
		this.subscriber = subscriber;
	}

	void subscribe(Subscription subscription) {
		this.subscriber.onSubscribe(subscription);
	}

	void cancel() {
		this.cancelled = true;
	}

	boolean isCancelled() {
		return this.cancelled;
	}

	void next(Object value) {
		this.subscriber.onNext(value);
	}

	void keep(Object value) {
		this.kept = value;
	}

	@Nullable Object kept() {
		return this.kept;
	}

	/**
	 * The lock is released.
	 * @param failure the failure to tell, or {@code null}
	 * @param context the context in which a value is discarded
	 */
	void end(@Nullable Throwable failure, Context context) {
		Object value = this.kept;
		if (this.cancelled) {
			discard(context);
		}
		else if (failure != null) {
			discard(context);
			this.subscriber.onError(failure);
		}
		else {
			if (value != null) {
				this.subscriber.onNext(value);
			}
			this.subscriber.onComplete();
		}
	}

	/**
	 * Discard the value that is kept.
	 * @param context the context of the subscriber
	 */
	void discard(Context context) {
		Object value = this.kept;
		if (value != null) {
			Operators.onDiscard(value, context);
		}
	}

}
