package io.dlock.aop.call;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Shows the lock of a reactive method in the lines that its operators log: wherever
 * Micrometer's context propagation takes thread-locals from the Reactor context.
 */
final class LogEntriesAccessor implements ThreadLocalAccessor<LogEntries> {

	private static final String KEY = "dlock.log";

	static {
		ContextRegistry.getInstance().registerThreadLocalAccessor(new LogEntriesAccessor());
	}

	private LogEntriesAccessor() {
	}

	/**
	 * Let what a publisher does be logged with a lock.
	 * @param publisher the publisher
	 * @param entries the entries of the lock
	 * @return the publisher to subscribe to
	 */
	static Publisher<?> logged(Publisher<?> publisher, LogEntries entries) {
		return (publisher instanceof Mono<?> mono) ? mono.contextWrite((context) -> context.put(KEY, entries))
				: Flux.from(publisher).contextWrite((context) -> context.put(KEY, entries));
	}

	@Override
	public Object key() {
		return KEY;
	}

	@Override
	public @Nullable LogEntries getValue() {
		LogEntries shown = LogEntries.shown();
		return shown.equals(LogEntries.NONE) ? null : shown;
	}

	@Override
	public void setValue(LogEntries value) {
		value.show();
	}

	@Override
	public void setValue() {
		LogEntries.NONE.show();
	}

}
