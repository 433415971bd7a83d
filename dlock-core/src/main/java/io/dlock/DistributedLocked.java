package io.dlock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method under a distributed lock: for each key, one caller at a time runs it,
 * across all instances of the application.
 *
 * <pre class="code">
 * &#64;DistributedLocked(key = "#order.id", name = "orders", lease = "30s")
 * void pay(Order order) { ... }
 * </pre>
 *
 * The lock is acquired before the method runs: outside {@code @Transactional} and
 * {@code @Cacheable}, inside security, {@code @Async} and {@code @Retryable} on the same
 * method, and after the arguments are validated ({@code dlock.aop.order}). It is renewed
 * while the method runs, and released afterwards, also if the method throws. In the
 * method, {@link LockHandle#current()} is its handle.
 * <p>
 * <strong>Transactions.</strong> If the method is called inside a transaction that is
 * already running, the lock is kept and renewed until that transaction has committed or
 * rolled back, and a warning says so once ({@code dlock.transaction.inside}). This does
 * not apply to a method that leaves that transaction ({@code REQUIRES_NEW},
 * {@code NOT_SUPPORTED}). A transaction whose thread has lost a lock is rolled back
 * instead of committed, and the commit throws {@link LockLostException}
 * ({@code dlock.transaction.commit-check}).
 * <p>
 * On a class, the annotation applies to all public methods, each with its own lock unless
 * they share a {@link #name} or {@link #key}; an annotation on a method takes precedence.
 * Interfaces and other annotations may carry it as well.
 * <p>
 * <strong>Checks at start-up.</strong> Every annotated method is checked when its bean is
 * created: its key can be parsed, uses variables and properties that exist, and has a
 * type with a defined text; its durations have units and fit the store; a proxy can
 * intercept it (for a class-level annotation: each public method); and its return type
 * can be honoured. In AspectJ mode ({@code dlock.aop.mode}) AspectJ must have woven it.
 * <p>
 * <strong>Asynchronous and reactive methods.</strong> The lock is held until the work is
 * done: until the returned {@code CompletionStage}, {@code Mono}, {@code Flux} or other
 * type that {@code ReactiveAdapterRegistry} knows has completed, failed or been cancelled
 * (also by {@code orTimeout}), or until a Kotlin {@code suspend} function or the
 * collection of its {@code Flow} has ended. Neither acquiring nor releasing blocks the
 * caller, and the result completes after the release. When the lock is granted, the
 * method runs on a thread of the library, or with {@code @Async} on that of the executor;
 * a reactive method runs for each subscription, with its handle in the
 * {@link ReactiveLockContext}. All exceptions, including that for a bad key, come through
 * the result. A result that does not tell when the work is done, such as a
 * {@code Future}, a {@code Callable} or a {@code DeferredResult}, is refused at start-up.
 * <p>
 * <strong>Limits.</strong> A call from within the same object bypasses the proxy and is
 * not locked, except in AspectJ mode. A lease lock can be lost, for instance by a pause
 * of the process that outlasts the lease: see {@link #onLost} and
 * {@link LockHandle#token()}.
 *
 * @since 0.1
 * @see LockRegistry
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface DistributedLocked {

	/**
	 * Alias for {@link #key}.
	 * @return the SpEL expression
	 */
	@AliasFor("key")
	String value() default "";

	/**
	 * The key: a SpEL expression over the parameters, {@code #order.id}, {@code #p0},
	 * {@code #root.method.name}. A constant needs quotes: {@code 'nightly'}. {@code ${…}}
	 * is resolved first.
	 * <p>
	 * The result, and each operand of a concatenation, must be a value with a defined
	 * text: text, a number by its value, a {@code UUID}, an enum constant by its name, a
	 * type of {@code java.time}, a record or an array of such values, or a type with a
	 * {@link LockKeyConverter}. Other values are refused: at start-up if the declared
	 * types reveal them, otherwise by the call, with an {@link IllegalArgumentException}.
	 * The call also refuses {@code null} and a blank text. A collection is refused here
	 * and accepted by {@link #keys}. The page {@code docs/keys.md} has the table. Without
	 * a key, the lock is the {@link #name}, or the method if there is no name.
	 * @return the SpEL expression
	 */
	@AliasFor("value")
	String key() default "";

	/**
	 * Several keys, which are all locked while the method runs: SpEL expressions, each of
	 * which is one key or a collection, an array or a stream of keys:
	 *
	 * <pre class="code">
	 * &#64;DistributedLocked(name = "stock", keys = "#order.lines.![sku]")
	 * void reserve(Order order) { ... }
	 *
	 * &#64;DistributedLocked(name = "account", keys = { "#from", "#to" })
	 * void transfer(long from, long to, BigDecimal amount) { ... }
	 * </pre>
	 *
	 * Either all locks are acquired or none, in an order that does not depend on that of
	 * the keys, so that calls with overlapping keys cannot wait for each other. The
	 * {@link #name} and the other attributes apply to each lock, but the
	 * {@link #waitTime} to all of them together. The loss of one is the loss of all. Each
	 * has a fencing token of its own: {@code LockContext.find("stock:" + sku).token()}.
	 * {@link LockHandle#current()} is only one of them.
	 * <p>
	 * The values follow the rules of {@link #key}; an {@code Optional} and a map are
	 * refused. Duplicates count once. A call without a key, with more than
	 * {@value LockSet#MAX_KEYS}, or with {@code null} in place of a key or a collection,
	 * throws an {@link IllegalArgumentException}. Cannot be used with {@link #key}.
	 * @return the SpEL expressions
	 * @see LockRegistry#acquireAll(LockRequest, java.util.Collection)
	 */
	String[] keys() default {};

	/**
	 * The prefix of the key, followed by a colon: methods with equal name and key exclude
	 * each other. Without a name, the key stands alone, and excludes every method and
	 * every use of the {@link LockRegistry} with the same key, in all applications with
	 * the same store; a warning says so at start-up, once for each method whose key
	 * depends on its arguments. May contain {@code ${…}}, and must not be blank.
	 * <p>
	 * {@linkplain LockEvent#name() Events} and metrics also have the name, or
	 * {@code Class.method} without one.
	 * @return the name
	 */
	String name() default "";

	/**
	 * The registry of the lock in an application with more than one: the name or the
	 * qualifier of its {@link LockRegistry} bean. The same key is a different lock in
	 * each registry; give the locks of two registries different names, by which metrics
	 * and operators tell them apart. The default is the registry that is injected without
	 * a qualifier. May contain {@code ${…}}.
	 * @return the name of the bean
	 */
	String registry() default "";

	/**
	 * How long the lock outlives a crashed process: {@code 30s}, {@code PT30S},
	 * {@code ${…}}; a number without a unit is refused. A lease that is renewed must be
	 * at least four command timeouts long. The default is {@code dlock.lease}.
	 * @return the lease
	 */
	String lease() default "";

	/**
	 * How long to wait for the lock: {@code 5s}, {@code 0s} to try once. The default is
	 * {@code dlock.wait-time}.
	 * @return the wait time
	 */
	String waitTime() default "";

	/**
	 * Whether the method runs alone, or together with other shared holders of the key:
	 * {@link LockMode#SHARED} for a method that reads what methods with the same name and
	 * key change exclusively.
	 *
	 * <pre class="code">
	 * &#64;DistributedLocked(name = "stock", key = "#product", mode = LockMode.SHARED)
	 * Report report(String product) { ... }
	 *
	 * &#64;DistributedLocked(name = "stock", key = "#product")
	 * void count(String product) { ... }
	 * </pre>
	 *
	 * A shared method may be called within an exclusive one. The opposite call would wait
	 * for itself, and throws an {@link IllegalStateException}, also in a transaction that
	 * keeps the shared lock. A shared lock cannot have a {@link #minHold}, and needs a
	 * store that has shared locks: both are checked at start-up. The page
	 * {@code docs/shared.md} says what it promises.
	 * @return the mode
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * Whether to renew the lease while the method runs. Without renewal the lease must be
	 * longer than the method ever takes.
	 * @return whether to renew
	 */
	boolean renew() default true;

	/**
	 * Whether a caller that already holds the lock may run the method. If {@code false},
	 * its call finds the lock busy, also when a transaction keeps the lock of an earlier
	 * call.
	 * @return whether the lock is reentrant
	 */
	boolean reentrant() default true;

	/**
	 * Whether the store grants the lock in the order in which it saw the calls, across
	 * all threads and processes. Each hand-off of the lock then costs two round trips and
	 * a message, also within a process. If {@code false}, {@code dlock.fair} applies,
	 * which an annotation cannot switch off.
	 * @return {@code true} for a fair lock
	 */
	boolean fair() default false;

	/**
	 * The longest time for which the lock is held: {@code 10m}. If the method still runs
	 * then, the lock is lost, with the consequence of {@link #onLost}. The lock is not
	 * renewed any more, and becomes free for others when the method ends, or at most one
	 * {@link #lease} later, so that a method that hangs does not keep it.
	 * <p>
	 * With several {@link #keys}, it counts from the first lock that is acquired, so that
	 * the wait for the others is part of it. It is at least as long as the lease. The
	 * default is {@code dlock.max-hold}, which is unlimited unless it is set. May contain
	 * {@code ${…}}.
	 * @return the longest time
	 */
	String maxHold() default "";

	/**
	 * The shortest time for which the lock stays taken, even if the method ends earlier:
	 * {@code 10s}. The caller continues when the method ends; the store keeps the lock
	 * for the rest. For scheduled methods that all instances start within that time and
	 * only one of them runs:
	 *
	 * <pre class="code">
	 * &#64;Scheduled(cron = "0 0 3 * * *")
	 * &#64;DistributedLocked(name = "report", waitTime = "0s", onBusy = OnBusy.SKIP, minHold = "1m")
	 * void report() { ... }
	 * </pre>
	 *
	 * It counts from the acquisition of the lock, separately for each of several
	 * {@link #keys}, and also applies if the method throws. It is not longer than
	 * {@link #maxHold}. Operators see that the lock is kept and not held. May contain
	 * {@code ${…}}.
	 * @return the shortest time
	 */
	String minHold() default "";

	/**
	 * The reaction to a lock that stays busy for the wait time. A {@link #fallback}
	 * replaces {@code THROW}; it cannot be combined with {@code SKIP}.
	 * @return the reaction
	 */
	OnBusy onBusy() default OnBusy.THROW;

	/**
	 * The name of a method of the same class to call instead when the lock is busy, and
	 * with {@link OnStoreFailure#FALLBACK} when the store fails. It has the same
	 * parameters, a compatible return type, and no checked exceptions that this method
	 * does not declare. It is called directly, without the lock and without other advice
	 * such as transactions, and must not be locked itself.
	 * @return the name of the method
	 */
	String fallback() default "";

	/**
	 * The reaction to a failure of the store, which leaves open whether the lock is free.
	 * A busy lock and a failed store are never mistaken for each other.
	 * @return the reaction
	 */
	OnStoreFailure onStoreFailure() default OnStoreFailure.DEFAULT;

	/**
	 * The reaction to the loss of the lock while the method runs.
	 * @return the reaction
	 */
	OnLost onLost() default OnLost.THROW;

	/**
	 * The reason that operators see; the method by default. May contain {@code ${…}}.
	 * @return the reason
	 */
	String reason() default "";

}
