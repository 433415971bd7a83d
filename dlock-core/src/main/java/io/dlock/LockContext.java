package io.dlock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Binds handles to threads: the basis of reentrant locks and
 * {@link LockHandle#current()}. The registry binds the handles that a thread acquires.
 * Bind a handle to another thread to work under it there:
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

	/**
	 * Empty while no handle is bound: a thread of a pool must not keep a class of dlock.
	 * The reference guards its contents, because any thread may close a binding.
	 */
	private static final ThreadLocal<AtomicReference<@Nullable Bindings>> BOUND = ThreadLocal
		.withInitial(AtomicReference::new);

	private LockContext() {
	}

	/**
	 * Bind a handle to the calling thread until the binding is closed.
	 * @param handle the handle
	 * @return the binding, which any thread may close
	 */
	public static Binding bind(LockHandle handle) {
		AtomicReference<@Nullable Bindings> bound = BOUND.get();
		Binding binding = new Binding(Objects.requireNonNull(handle), bound);
		synchronized (bound) {
			Bindings bindings = bound.get();
			if (bindings == null) {
				bindings = new Bindings();
				bound.set(bindings);
			}
			bindings.add(binding, handle.key());
		}
		return binding;
	}

	/**
	 * The innermost handle bound to the calling thread.
	 * @return the handle, or empty
	 */
	public static Optional<LockHandle> current() {
		AtomicReference<@Nullable Bindings> bound = BOUND.get();
		if (bound.get() == null) {
			return Optional.empty();
		}
		synchronized (bound) {
			Bindings bindings = bound.get();
			return (bindings != null && bindings.innermost != null) ? Optional.ofNullable(bindings.innermost.handle)
					: Optional.empty();
		}
	}

	/**
	 * Find the innermost handle of a key bound to the calling thread. The time does not
	 * depend on the number of bound handles.
	 * @param key the key
	 * @return the handle, or {@code null}
	 */
	public static @Nullable LockHandle find(String key) {
		return find(key, (handle) -> true);
	}

	/**
	 * Find the innermost handle of a key that is bound to the calling thread and matches
	 * a condition. The time does not depend on the number of handles of other keys.
	 * @param key the key
	 * @param condition the condition that the handle must match; does not block
	 * @return the handle, or {@code null}
	 */
	public static @Nullable LockHandle find(String key, Predicate<? super LockHandle> condition) {
		AtomicReference<@Nullable Bindings> bound = BOUND.get();
		if (bound.get() == null) {
			return null;
		}
		synchronized (bound) {
			Bindings bindings = bound.get();
			Binding binding = (bindings != null) ? bindings.innermost(key) : null;
			while (binding != null) {
				LockHandle handle = binding.handle;
				if (handle != null && condition.test(handle)) {
					return handle;
				}
				binding = binding.outerOfKey;
			}
			return null;
		}
	}

	/**
	 * All handles bound to the calling thread.
	 * @return the handles, innermost first
	 */
	public static List<LockHandle> all() {
		AtomicReference<@Nullable Bindings> bound = BOUND.get();
		if (bound.get() == null) {
			return List.of();
		}
		List<LockHandle> handles = new ArrayList<>();
		synchronized (bound) {
			Bindings bindings = bound.get();
			Binding binding = (bindings != null) ? bindings.innermost : null;
			while (binding != null) {
				if (binding.handle != null) {
					handles.add(binding.handle);
				}
				binding = binding.outer;
			}
		}
		return handles;
	}

	/**
	 * A handle bound to a thread.
	 */
	public static final class Binding implements AutoCloseable {

		private final AtomicReference<@Nullable Bindings> bound;

		/** {@code null} once closed. */
		private @Nullable LockHandle handle;

		private @Nullable Binding outer;

		private @Nullable Binding inner;

		private @Nullable Binding outerOfKey;

		private @Nullable Binding innerOfKey;

		private boolean keptOnly;

		private Binding(LockHandle handle, AtomicReference<@Nullable Bindings> bound) {
			this.handle = handle;
			this.bound = bound;
		}

		/**
		 * Give up the place of the {@linkplain LockContext#current() current} handle if
		 * another handle is bound: the method of this lock has ended, and only a
		 * transaction keeps the lock.
		 */
		public void keepOnly() {
			synchronized (this.bound) {
				LockHandle kept = this.handle;
				Bindings bindings = this.bound.get();
				if (kept != null && bindings != null) {
					this.keptOnly = true;
					bindings.remove(this, kept.key());
					bindings.addKept(this, kept.key());
				}
			}
		}

		/**
		 * End the binding.
		 */
		@Override
		public void close() {
			synchronized (this.bound) {
				LockHandle closed = this.handle;
				Bindings bindings = this.bound.get();
				if (closed == null || bindings == null) {
					return;
				}
				this.handle = null;
				bindings.remove(this, closed.key());
				if (bindings.innermost == null) {
					this.bound.set(null);
				}
			}
		}

	}

	/**
	 * The handles bound to one thread: all of them and those of each key, innermost
	 * first.
	 */
	private static final class Bindings {

		/**
		 * The number of handles that are searched without an index: most threads hold one
		 * or two locks.
		 */
		private static final int WITHOUT_INDEX = 8;

		private @Nullable Binding innermost;

		private int size;

		/** The innermost of each key. */
		private @Nullable Map<String, Binding> index;

		private @Nullable Binding innermost(String key) {
			if (this.index != null) {
				return this.index.get(key);
			}
			Binding binding = this.innermost;
			while (binding != null && (binding.handle == null || !binding.handle.key().equals(key))) {
				binding = binding.outer;
			}
			return binding;
		}

		private void add(Binding binding, String key) {
			add(binding, key, null, null);
		}

		/**
		 * Add a binding outside of all that are in use.
		 */
		private void addKept(Binding binding, String key) {
			Binding inner = null;
			for (Binding next = this.innermost; next != null && !next.keptOnly; next = next.outer) {
				inner = next;
			}
			Binding innerOfKey = null;
			for (Binding next = innermost(key); next != null && !next.keptOnly; next = next.outerOfKey) {
				innerOfKey = next;
			}
			add(binding, key, inner, innerOfKey);
		}

		/**
		 * Add a binding.
		 * @param inner the binding next to it inside, or {@code null} if it is the
		 * innermost
		 * @param innerOfKey the same among those of the key
		 */
		private void add(Binding binding, String key, @Nullable Binding inner, @Nullable Binding innerOfKey) {
			Binding outerOfKey = (innerOfKey != null) ? innerOfKey.outerOfKey : innermost(key);
			binding.outerOfKey = outerOfKey;
			binding.innerOfKey = innerOfKey;
			if (outerOfKey != null) {
				outerOfKey.innerOfKey = binding;
			}
			Binding outer = (inner != null) ? inner.outer : this.innermost;
			binding.outer = outer;
			binding.inner = inner;
			if (outer != null) {
				outer.inner = binding;
			}
			if (innerOfKey != null) {
				innerOfKey.outerOfKey = binding;
			}
			if (inner != null) {
				inner.outer = binding;
			}
			else {
				this.innermost = binding;
			}
			this.size++;
			if (this.index == null && this.size > WITHOUT_INDEX) {
				this.index = index();
			}
			else if (this.index != null && innerOfKey == null) {
				this.index.put(key, binding);
			}
		}

		private Map<String, Binding> index() {
			Map<String, Binding> created = new HashMap<>();
			for (Binding binding = this.innermost; binding != null; binding = binding.outer) {
				if (binding.handle != null) {
					created.putIfAbsent(binding.handle.key(), binding);
				}
			}
			return created;
		}

		private void remove(Binding binding, String key) {
			removeOfKey(binding, key);
			Binding inner = binding.inner;
			Binding outer = binding.outer;
			if (inner != null) {
				inner.outer = outer;
			}
			else {
				this.innermost = outer;
			}
			if (outer != null) {
				outer.inner = inner;
			}
			// a reference to a closed binding must not keep other bindings alive
			binding.inner = null;
			binding.outer = null;
			this.size--;
		}

		private void removeOfKey(Binding binding, String key) {
			Binding inner = binding.innerOfKey;
			Binding outer = binding.outerOfKey;
			if (inner != null) {
				inner.outerOfKey = outer;
			}
			else if (this.index != null && outer != null) {
				this.index.put(key, outer);
			}
			else if (this.index != null) {
				this.index.remove(key);
			}
			if (outer != null) {
				outer.innerOfKey = inner;
			}
			binding.innerOfKey = null;
			binding.outerOfKey = null;
		}

	}

}
