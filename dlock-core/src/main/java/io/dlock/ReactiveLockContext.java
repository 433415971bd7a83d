package io.dlock;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The locks of reactive code in the Reactor {@code Context}. They are visible in the
 * publisher that a {@link DistributedLocked} method returns, on any thread, and not
 * downstream of it.
 *
 * <pre class="code">
 * &#64;DistributedLocked(name = "orders", key = "#order.id")
 * Mono&lt;Void&gt; pay(Order order) {
 *     return ReactiveLockContext.currentHandle()
 *         .flatMap((handle) -&gt; this.orders.save(order, handle.token()));
 * }
 * </pre>
 *
 * In a Kotlin coroutine the context is
 * {@code currentCoroutineContext()[ReactorContext]?.context}.
 * <p>
 * A locked method that is subscribed to with the handle of its own key in the context is
 * reentrant: it shares lease and token. Needs {@code reactor-core} on the class path.
 *
 * @since 0.1
 * @see LockContext
 */
public final class ReactiveLockContext {

	private ReactiveLockContext() {
	}

	/**
	 * The innermost lock of a context.
	 * @param context the context
	 * @return the handle, or empty outside any lock
	 */
	public static Optional<LockHandle> current(ContextView context) {
		return context.getOrEmpty(LockHandle.class);
	}

	/**
	 * The innermost lock of the subscriber.
	 * @return the handle when subscribed to, or empty outside any lock
	 */
	public static Mono<LockHandle> currentHandle() {
		return Mono.deferContextual((context) -> Mono.justOrEmpty(current(context)));
	}

	/**
	 * Find the innermost handle of a key.
	 * @param context the context
	 * @param key the key
	 * @return the handle, which may be released by now, or empty
	 */
	public static Optional<LockHandle> find(ContextView context, String key) {
		return find(context, key, (handle) -> true);
	}

	/**
	 * Find the innermost handle of a key that matches: registries may have locks of the
	 * same key.
	 * @param context the context
	 * @param key the key
	 * @param condition the condition that the handle must match
	 * @return the handle, which may be released by now, or empty
	 */
	public static Optional<LockHandle> find(ContextView context, String key, Predicate<? super LockHandle> condition) {
		return held(context, key).stream().filter(condition).findFirst();
	}

	private static List<LockHandle> held(ContextView context, String key) {
		return context.<List<LockHandle>>getOrEmpty(new Held(key)).orElse(List.of());
	}

	/**
	 * All locks of a context.
	 * @param context the context
	 * @return the handles, one for each key of each registry, which may be released by
	 * now
	 */
	public static List<LockHandle> all(ContextView context) {
		return context.stream()
			.filter((entry) -> entry.getKey() instanceof Held)
			.flatMap((entry) -> held(context, ((Held) entry.getKey()).key()).stream())
			.toList();
	}

	/**
	 * Add a handle to the context, to work under it:
	 * {@code publisher.contextWrite(ReactiveLockContext.bind(handle))}. This does not
	 * release the handle.
	 * @param handle the handle
	 * @return the argument of {@code contextWrite}
	 */
	public static Function<Context, Context> bind(LockHandle handle) {
		Objects.requireNonNull(handle);
		return (context) -> {
			// a nested handle, which has the token of the outer one, takes its place
			Stream<LockHandle> others = held(context, handle.key()).stream()
				.filter((outer) -> outer.token() != handle.token());
			return context.put(LockHandle.class, handle)
				.put(new Held(handle.key()), Stream.concat(Stream.of(handle), others).toList());
		};
	}

	/**
	 * The key of the handles of a lock in the context, innermost first: one of each
	 * registry that has the lock.
	 *
	 * @param key the locked key
	 */
	private record Held(String key) {

	}

}
