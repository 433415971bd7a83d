package io.dlock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Runs a scheduled method on one instance only: all instances start it, one gets the
 * lock, and the others skip the method without waiting.
 *
 * <pre class="code">
 * &#64;Scheduled(cron = "0 0 3 * * *")
 * &#64;ScheduledLock(name = "nightly-report", atMost = "30m", atLeast = "1m")
 * void report() { ... }
 * </pre>
 *
 * It is a {@link DistributedLocked} with the lock {@link #name}, {@code waitTime = "0s"},
 * {@code onBusy = SKIP}, the lease {@link #atMost} without renewal, {@link #atLeast} as
 * {@code minHold} and {@code onStoreFailure = THROW}. The durations have the meaning of
 * {@code lockAtMostFor} and {@code lockAtLeastFor} in ShedLock; the rules of
 * {@link DistributedLocked} for proxies, transactions and asynchronous results apply.
 * <p>
 * <strong>A store that fails</strong> makes the call throw {@link LockStoreException}
 * without running the method, whatever {@code dlock.on-store-failure} is: without the
 * store it is unknown whether another instance runs the method. The method runs when it
 * is next due.
 * <p>
 * An annotation that is annotated with this one declares the same for several jobs.
 * <p>
 * <strong>A wrong value</strong> fails the start: a name that is blank, a duration
 * without a unit, no {@code atMost}, an {@code atLeast} longer than {@code atMost}, a
 * return type that cannot be skipped.
 *
 * @since 0.1
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@DistributedLocked(waitTime = "0s", onBusy = OnBusy.SKIP, renew = false, onStoreFailure = OnStoreFailure.THROW)
public @interface ScheduledLock {

	/**
	 * The name of the job, which is the key of its lock: methods with the same name
	 * exclude each other in all applications that share the store and its prefix. May
	 * contain {@code ${…}}.
	 * @return the name
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "name")
	String name();

	/**
	 * The longest time for which the lock is taken: {@code 30m}, {@code PT30M},
	 * {@code ${jobs.at-most:30m}}; a number without a unit is refused. If the instance
	 * dies, the lock stays taken for that long, and no instance runs the job meanwhile.
	 * The lock is never renewed, so that this time must be much longer than the job ever
	 * takes.
	 * <p>
	 * A job that still runs then has lost its lock, and another instance may start it at
	 * the same time. One percent and two milliseconds earlier, to allow for the clocks,
	 * {@link LockHandle#isValid()} turns {@code false} and listeners learn of the loss.
	 * When the method ends, it throws {@link LockLostException}, and a transaction that
	 * it would commit is rolled back. The limit {@code dlock.max-hold} does not apply.
	 * @return the longest time
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "lease")
	String atMost();

	/**
	 * The shortest time for which the lock is taken, even if the method is faster or
	 * throws: longer than the clocks of the instances differ, and shorter than the period
	 * of the schedule. It counts from the acquisition of the lock, and is not longer than
	 * {@link #atMost}. The default is none. May contain {@code ${…}}.
	 * @return the shortest time
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "minHold")
	String atLeast() default "";

	/**
	 * The registry of the lock in an application with more than one, see
	 * {@link DistributedLocked#registry()}.
	 * @return the name of the bean
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "registry")
	String registry() default "";

	/**
	 * The reason that operators see; the method by default.
	 * @return the reason
	 */
	@AliasFor(annotation = DistributedLocked.class, attribute = "reason")
	String reason() default "";

}
