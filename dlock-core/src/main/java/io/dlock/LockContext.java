package io.dlock;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Binds handles to the thread that works under them, which is what makes locks reentrant
 * and {@link LockHandle#current()} possible. The registry binds what a thread acquires;
 * bind a handle yourself to work under it on another thread:
 *
 * <pre class="code">
 * executor.execute(() -&gt; {
 *     try (LockContext.Binding binding = LockContext.bind(handle)) {
 *         ...
 *     }
 * });
 * </pre>
 *
 * @since 0.1
 */
public final class LockContext {

	private static final ThreadLocal<@Nullable Binding> INNERMOST = new ThreadLocal<>();

	private LockContext() {
	}

	/**
	 * Bind a handle to the calling thread until the binding is closed.
	 * @param handle the handle
	 * @return the binding, which any thread may close
	 */
	public static Binding bind(LockHandle handle) {
		Binding outer = innermost();
		if (outer != null) {
			outer.unlinkClosed();
		}
		Binding binding = new Binding(Objects.requireNonNull(handle), outer);
		INNERMOST.set(binding);
		return binding;
	}

	/**
	 * The innermost handle bound to the calling thread.
	 * @return the handle, or empty
	 */
	public static Optional<LockHandle> current() {
		Binding binding = innermost();
		return (binding != null) ? Optional.ofNullable(binding.handle.get()) : Optional.empty();
	}

	/**
	 * Find the innermost handle bound to the calling thread that matches.
	 * @param condition what it must match
	 * @return the handle, or {@code null}
	 */
	public static @Nullable LockHandle find(Predicate<? super LockHandle> condition) {
		for (Binding binding = innermost(); binding != null; binding = binding.outer) {
			LockHandle handle = binding.handle.get();
			if (handle != null && condition.test(handle)) {
				return handle;
			}
		}
		return null;
	}

	/**
	 * All handles bound to the calling thread.
	 * @return the handles, innermost first
	 */
	public static List<LockHandle> all() {
		Binding innermost = innermost();
		if (innermost == null) {
			return List.of();
		}
		List<LockHandle> handles = new ArrayList<>();
		for (Binding binding = innermost; binding != null; binding = binding.outer) {
			LockHandle handle = binding.handle.get();
			if (handle != null) {
				handles.add(handle);
			}
		}
		return handles;
	}

	private static @Nullable Binding innermost() {
		Binding binding = INNERMOST.get();
		if (binding == null || binding.handle.get() != null) {
			return binding;
		}
		while (binding != null && binding.handle.get() == null) {
			binding = binding.outer;
		}
		if (binding != null) {
			INNERMOST.set(binding);
		}
		else {
			INNERMOST.remove();
		}
		return binding;
	}

	/**
	 * A handle bound to a thread.
	 */
	public static final class Binding implements AutoCloseable {

		/** Empty once closed: a thread that never looks again must not keep a handle. */
		private final AtomicReference<@Nullable LockHandle> handle;

		/** Changed by the thread of the binding only. */
		private @Nullable Binding outer;

		private final Thread thread = Thread.currentThread();

		private Binding(LockHandle handle, @Nullable Binding outer) {
			this.handle = new AtomicReference<>(handle);
			this.outer = outer;
		}

		/**
		 * Drop what was closed below this binding, by this or other threads.
		 */
		private void unlinkClosed() {
			for (Binding binding = this; binding != null; binding = binding.outer) {
				while (binding.outer != null && binding.outer.handle.get() == null) {
					binding.outer = binding.outer.outer;
				}
			}
		}

		/**
		 * End the binding.
		 */
		@Override
		public void close() {
			this.handle.set(null);
			if (Thread.currentThread() == this.thread) {
				innermost();
			}
		}

	}

}
