package io.dlock.aop.call;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Shows the lock of a method in the lines that other threads log for it: wherever
 * Micrometer's context propagation takes thread-locals along, from the thread of the
 * method or from the Reactor context.
 */
final class LogEntriesAccessor implements ThreadLocalAccessor<LogEntries> {

	static final String KEY = "dlock.log";

	private LogEntriesAccessor() {
	}

	static void register() {
		ContextRegistry.getInstance().registerThreadLocalAccessor(new LogEntriesAccessor());
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
