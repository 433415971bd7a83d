package io.dlock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Limits how many callers run a method at once, across all instances of the application,
 * as {@code @ConcurrencyLimit} of Spring does in one process.
 *
 * <pre class="code">
 * &#64;DistributedLimit(name = "export", limit = "3")
 * void export() { ... }
 *
 * &#64;DistributedLimit(name = "export", key = "#customer.id", limit = "${exports.limit:2}", waitTime = "10s")
 * void exportFor(Customer customer) { ... }
 * </pre>
 *
 * Each call takes a permit before the method runs and gives it back afterwards, also if
 * the method throws. A permit is a lease that is renewed while the method runs, so that
 * it is free again at most one lease after its process has died. It is taken at the same
 * point as the lock of a {@link DistributedLocked} method, with the same checks at
 * start-up and for the same return types. {@link LockHandle#current()} is its handle.
 * <p>
 * <strong>Not a lock.</strong> The callers do not exclude each other: a permit protects
 * no data. A limit and a lock of the same name and key are independent of each other.
 * <p>
 * <strong>No reentrancy.</strong> Each call takes a permit of its own, also within
 * another call of the same limit. A method that calls itself through the proxy can wait
 * for itself, until its wait time is over.
 * <p>
 * <strong>Transactions.</strong> The permit is given back when the method ends, also if
 * the method was called in a transaction that goes on. A transaction that begins in the
 * method ends before that.
 * <p>
 * <strong>On a class</strong>, the annotation limits the calls of all public methods.
 * They count together, unless the {@link #key} differs. Other annotations may carry it as
 * well.
 * <p>
 * <strong>With a lock.</strong> A method cannot have both a limit and a lock. Use two
 * beans, one of which calls the other: the annotation of the calling bean is outside.
 *
 * @since 0.1
 * @see LockRegistry#acquirePermit(LockRequest, int)
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@DistributedLocked(reentrant = false)
public @interface DistributedLimit {

	/**
	 * How many callers may run the method at once, from 1 to
	 * {@value PermitRegistry#MAX_PERMITS}: {@code 3}, {@code ${exports.limit:3}}. All
	 * methods with the same {@link #name} and {@link #key} count together, each against
	 * its own limit. The limit is stored nowhere: a new value applies to new calls of the
	 * instances that have it, and revokes no permit.
	 * @return the limit
	 */
	String limit();

	/**
	 * The key: a SpEL expression over the parameters, as that of
	 * {@link DistributedLocked#key()}. There is one limit for each key. Without a key,
	 * the key is the {@link #name}. One of the two is required.
	 * @return the SpEL expression
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "key")
	String key() default "";

	/**
	 * The prefix of the key, followed by a colon, see {@link DistributedLocked#name()}.
	 * @return the name
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "name")
	String name() default "";

	/**
	 * The registry of the permits in an application with more than one, see
	 * {@link DistributedLocked#registry()}.
	 * @return the name of the bean
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "registry")
	String registry() default "";

	/**
	 * How long a permit outlives a crashed process, see
	 * {@link DistributedLocked#lease()}.
	 * @return the lease
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "lease")
	String lease() default "";

	/**
	 * How long to wait for a permit: {@code 5s}, {@code 0s} to try once. The default is
	 * {@code dlock.wait-time}.
	 * @return the wait time
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "waitTime")
	String waitTime() default "";

	/**
	 * Whether to renew the lease while the method runs. Without renewal the lease must be
	 * longer than the method ever takes.
	 * @return whether to renew
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "renew")
	boolean renew() default true;

	/**
	 * The longest time for which a permit is held, see
	 * {@link DistributedLocked#maxHold()}: a method that hangs does not keep it.
	 * @return the longest time
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "maxHold")
	String maxHold() default "";

	/**
	 * The shortest time for which a permit stays taken, even if the method ends earlier:
	 * with {@code 1m} and a limit of three, at most three calls start in a minute.
	 * @return the shortest time
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "minHold")
	String minHold() default "";

	/**
	 * The reaction to a limit that stays exhausted for the wait time. A {@link #fallback}
	 * replaces {@code THROW}; it cannot be combined with {@code SKIP}.
	 * @return the reaction
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "onBusy")
	OnBusy onBusy() default OnBusy.THROW;

	/**
	 * The name of a method to call instead when the limit is exhausted, see
	 * {@link DistributedLocked#fallback()}.
	 * @return the name of the method
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "fallback")
	String fallback() default "";

	/**
	 * The reaction to a failure of the store, which leaves open how many permits are
	 * held.
	 * @return the reaction
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "onStoreFailure")
	OnStoreFailure onStoreFailure() default OnStoreFailure.DEFAULT;

	/**
	 * The reaction to the loss of the permit while the method runs: another caller may
	 * then run the method beyond the limit. {@link OnLost#IGNORE} is right if that does
	 * no harm.
	 * @return the reaction
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "onLost")
	OnLost onLost() default OnLost.THROW;

	/**
	 * The reason that operators see; the method by default. May contain {@code ${…}}.
	 * @return the reason
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "reason")
	String reason() default "";

}
