package io.dlock.aop.call;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Shows the lock of a method in the lines that other threads log for it: wherever
 * Micrometer's context propagation takes thread-locals along, from the thread of the
 * method or from the Reactor context.
 */
final class MdcEntriesAccessor implements ThreadLocalAccessor<MdcEntries> {

	static final String KEY = "dlock.log";

	private MdcEntriesAccessor() {
	}

	static void register() {
		ContextRegistry.getInstance().registerThreadLocalAccessor(new MdcEntriesAccessor());
	}

	@Override
	public Object key() {
		return KEY;
	}

	@Override
	public @Nullable MdcEntries getValue() {
		MdcEntries shown = MdcEntries.shown();
		return shown.equals(MdcEntries.NONE) ? null : shown;
	}

	@Override
	public void setValue(MdcEntries value) {
		value.show();
	}

	@Override
	public void setValue() {
		MdcEntries.NONE.show();
	}

}
