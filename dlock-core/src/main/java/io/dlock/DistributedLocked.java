package io.dlock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method under a distributed lock: of all instances of the application, one at a
 * time runs it for the same key.
 *
 * <pre class="code">
 * &#64;DistributedLocked(key = "#order.id", name = "orders", lease = "30s")
 * void pay(Order order) { ... }
 * </pre>
 *
 * The lock is acquired before the method, outside {@code @Transactional} and inside
 * {@code @Async} and {@code @Retryable} on the same method; it is renewed while the
 * method runs, and released after it, also when it throws. The handle is
 * {@link LockHandle#current()} in the method.
 * <p>
 * <strong>Transactions.</strong> If the method is called inside a transaction that runs
 * already, the lock is kept and renewed until that transaction has ended, by a commit or
 * a rollback, and a warning says so once ({@code dlock.transaction.inside}). A
 * transaction that would commit after a lock of its thread was lost is rolled back, and
 * the commit throws {@link LockLostException} ({@code dlock.transaction.commit-check}).
 * <p>
 * On a class it applies to all public methods, each with its own lock unless they share a
 * {@link #name} or {@link #key}; an annotation on a method takes precedence. It may also
 * stand on interfaces, and on annotations of yours.
 * <p>
 * <strong>What is checked at start-up.</strong> Every annotated method is checked when
 * its bean is created: that its key can be parsed and uses variables that exist, that its
 * durations have units and fit the store, that a proxy can intercept it (for a
 * class-level annotation: each public method), and that its return type can be honoured.
 * Asynchronous and reactive methods are refused in this version: the lock would be
 * released before the work is done.
 * <p>
 * <strong>What is not guaranteed.</strong> A call from within the same object does not
 * pass the proxy and is not locked. A lease lock can be lost, for instance by a pause of
 * the process that outlasts the lease: see {@link #onLost} and
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
	 * As {@link #key}.
	 * @return the SpEL expression
	 */
	@AliasFor("key")
	String value() default "";

	/**
	 * What to lock: a SpEL expression over the parameters, {@code #order.id},
	 * {@code #p0}, {@code #root.method.name}. A constant needs quotes: {@code 'nightly'}.
	 * {@code ${…}} is resolved first.
	 * <p>
	 * The result is turned into text; {@code null}, a blank text, and an object without a
	 * {@code toString()} of its own are errors. Without a key, the lock is the
	 * {@link #name}, or the method if there is no name.
	 * @return the SpEL expression
	 */
	@AliasFor("value")
	String key() default "";

	/**
	 * A namespace put before the key with a colon: two methods with the same name and key
	 * exclude each other. Without a name, the key stands alone, and excludes every method
	 * and every use of the {@link LockRegistry} with the same key. May contain
	 * {@code ${…}}.
	 * @return the name
	 */
	String name() default "";

	/**
	 * How long the lock outlives a process that died: {@code 30s}, {@code PT30S},
	 * {@code ${…}}; a number without a unit is refused. At least four command timeouts.
	 * The default is {@code dlock.lease}.
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
	 * Whether to renew the lease while the method runs. Without renewal the lease must be
	 * longer than the method ever takes.
	 * @return whether to renew
	 */
	boolean renew() default true;

	/**
	 * What to do when the lock is busy for the wait time. Has no effect beside a
	 * {@link #fallback}.
	 * @return what to do
	 */
	OnBusy onBusy() default OnBusy.THROW;

	/**
	 * The name of a method of the same class, with the same parameters and a compatible
	 * return type, to call instead when the lock is busy. It is called directly, without
	 * the lock and without other advice, such as transactions; it may not be locked
	 * itself.
	 * @return the name of the method
	 */
	String fallback() default "";

	/**
	 * What to do when the lock is lost while the method runs.
	 * @return what to do
	 */
	OnLost onLost() default OnLost.THROW;

	/**
	 * Why the lock is taken, shown to operators; the method by default. May contain
	 * {@code ${…}}.
	 * @return the reason
	 */
	String reason() default "";

}
