package io.dlock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.core.env.Environment;

import io.dlock.LockSettings;
import io.dlock.OnStoreFailure;
import io.dlock.ReleaseMode;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.InsideTransaction;

/**
 * Configuration of dlock.
 *
 * @param backend Where the locks are. By default the only backend that is possible
 * @param lease How long a lock outlives a process that died, unless a method says
 * otherwise. It is renewed while the lock is held
 * @param waitTime How long to wait for a busy lock, unless a method says otherwise
 * @param maxHold How long a lock is held at the most, unless a method says otherwise:
 * after that it is lost. At least the lease. No limit by default
 * @param commandTimeout How long one call to the store may take. A tenth of the lease by
 * default, at most one second. Every lease must be at least four times as long
 * @param maxPollInterval How long a waiting process lets pass between two looks at a busy
 * lock, at the most
 * @param shutdownTimeout How long to let running holders finish when the application
 * stops, before their locks are taken away
 * @param instance Name of this instance, shown to whoever asks who holds a lock. The
 * application name, host and process id by default
 * @param startupCheck Whether to check at start-up that the store can be used, and to
 * fail if not
 * @param startTimeout How long the start waits for a store that is not up, or answers
 * slowly. A definite refusal, as of a password, fails the start at once
 * @param release Whether a release waits for the store. Asynchronous saves the caller a
 * round trip, but for a moment other instances still find the lock busy
 * @param onStoreFailure What locked methods do when the store fails, unless they say
 * otherwise: throw, or proceed without their lock
 * @param mdc Whether the log of a locked method shows the fencing token and the reason of
 * its lock, as dlock.token and dlock.reason in the MDC
 * @param aop Annotated methods
 * @param handOff How waiting threads of this process pass a lock to each other
 * @param events What happens to locks, as events
 * @param transaction Locks and transactions
 * @since 0.1
 */
@ConfigurationProperties("dlock")
public record DlockProperties(@Nullable DlockBackend backend, @DefaultValue("30s") Duration lease,
		@DefaultValue("5s") Duration waitTime, @Nullable Duration maxHold, @Nullable Duration commandTimeout,
		@DefaultValue("100ms") Duration maxPollInterval, @DefaultValue("10s") Duration shutdownTimeout,
		@Nullable String instance, @DefaultValue("true") boolean startupCheck,
		@DefaultValue("15s") Duration startTimeout, @DefaultValue("sync") ReleaseMode release,
		@DefaultValue("throw") OnStoreFailure onStoreFailure, @DefaultValue("true") boolean mdc, @DefaultValue Aop aop,
		@DefaultValue HandOff handOff, @DefaultValue Events events, @DefaultValue Transaction transaction) {

	private static final Duration MAX_START_TIMEOUT = Duration.ofMinutes(60);

	/**
	 * Bind the properties before there is a bean of them.
	 * @param environment the properties
	 * @return the same as the bean
	 */
	static DlockProperties bind(Environment environment) {
		return Binder.get(environment).bindOrCreate("dlock", DlockProperties.class);
	}

	/**
	 * The command timeout that is in effect.
	 * @return the configured one, or the default for the lease
	 */
	public Duration effectiveCommandTimeout() {
		return (this.commandTimeout != null) ? this.commandTimeout : LockSettings.commandTimeoutFor(this.lease);
	}

	/**
	 * How long the start tries to use the store.
	 * @return the retry, or {@code null} if the start does not depend on the store
	 */
	public @Nullable StartupRetry startupRetry() {
		return this.startupCheck ? new StartupRetry(this.startTimeout) : null;
	}

	LockSettings settings(String defaultInstance) {
		if (this.startTimeout.isNegative() || this.startTimeout.compareTo(MAX_START_TIMEOUT) > 0) {
			throw new IllegalArgumentException("'startTimeout' must be 0 to %d minutes but is %s"
				.formatted(MAX_START_TIMEOUT.toMinutes(), this.startTimeout));
		}
		return new LockSettings(this.lease, this.waitTime, effectiveCommandTimeout(), this.maxPollInterval,
				this.shutdownTimeout, this.handOff.maxDuration(), this.release,
				(this.instance != null) ? this.instance : defaultInstance, this.maxHold);
	}

	/**
	 * Annotated methods.
	 *
	 * @param mode How calls of annotated methods are intercepted: those of beans by a
	 * proxy, or all of them by AspectJ, which has to be woven into the methods
	 * @param order Order of the lock among what a proxy puts around a method, as in Order
	 * annotations: the lower, the further outside. By default inside of all that has an
	 * order of its own
	 */
	public record Aop(@DefaultValue("proxy") AdviceMode mode,
			@DefaultValue("" + DistributedLockedBeanPostProcessor.ADVICE_ORDER) int order) {

	}

	/**
	 * How waiting threads of this process pass a lock to each other.
	 *
	 * @param maxDuration How long the waiting threads of a process may pass a lock to
	 * each other without asking the store whether another process waits for it. Zero to
	 * ask each time
	 */
	public record HandOff(@DefaultValue("10ms") Duration maxDuration) {

	}

	/**
	 * What happens to locks, as events.
	 *
	 * @param publish Whether to publish what happens to locks as application events, for
	 * event listener methods. Beans that are a LockListener are told in any case
	 */
	public record Events(@DefaultValue("false") boolean publish) {

	}

	/**
	 * Locks and transactions.
	 *
	 * @param inside What a locked method does when it is called inside a transaction that
	 * already runs: keep the lock until the transaction has ended, fail, or ignore the
	 * transaction and release the lock when the method returns
	 * @param commitCheck What a transaction must pass before it commits while its thread
	 * holds locks: that they are valid; or that, and a lock on their rows in the database
	 * of the transaction; or nothing
	 */
	public record Transaction(@DefaultValue("defer") InsideTransaction inside,
			@DefaultValue("validity") CommitCheck commitCheck) {

	}

}
