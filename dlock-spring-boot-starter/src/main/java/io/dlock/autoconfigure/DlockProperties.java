package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.AdviceMode;

import io.dlock.LockSettings;
import io.dlock.OnStoreFailure;
import io.dlock.ReleaseMode;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.store.Quarantine;
import io.dlock.transaction.InsideTransaction;

/**
 * Configuration of dlock.
 *
 * @param backend Store of the locks. Required for a quorum, and if both Redis and a
 * DataSource are present; by default the one that is present
 * @param lease Time after which the lock of a crashed process becomes free, unless a
 * method says otherwise. The lease is renewed while the lock is held
 * @param waitTime Time to wait for a busy lock, unless a method says otherwise
 * @param maxHold Longest time for which a lock is held, unless a method says otherwise:
 * after that it is lost. At least the lease. No limit by default
 * @param fair Whether the store grants all locks in the order of the requests; they are
 * then not passed on within the process. A method or a LockRequest can switch it on for
 * its lock, but only a LockRequest can switch it off
 * @param commandTimeout Timeout of a call to the store. A tenth of the lease by default,
 * at most one second. The default lease and every renewed lease must be at least four
 * times as long
 * @param maxPollInterval Longest interval at which the next waiting process polls for a
 * busy lock. Processes behind it poll more slowly
 * @param shutdownTimeout Time that running holders have to finish when the application
 * stops, before their locks are taken away
 * @param instance Name of this instance, shown as the holder of its locks. Must be unique
 * among instances and across restarts. The application name, host, process id and start
 * of the process by default
 * @param startupCheck Whether to fail the start if the store cannot be used
 * @param startupTimeout Time that the start waits for a store that is down or slow. A
 * permanent failure, such as a rejected password, fails the start at once
 * @param release Whether a release waits for the store. Asynchronous saves the caller a
 * round trip, but for a moment other instances still find the lock busy
 * @param onStoreFailure Reaction of locked methods to a failure of the store, unless they
 * say otherwise: throw, or proceed without their lock
 * @param mdc Whether the log of a locked method shows the fencing token and the reason of
 * its lock, as dlock.token and dlock.reason in the MDC
 * @param aop Annotated methods
 * @param handOff Hand-off of locks between threads of this process
 * @param events Lock events
 * @param transaction Locks and transactions
 * @param failover Failover of the store
 * @param quorum Locks by the majority of several independent Redis servers
 * @since 0.1
 */
@ConfigurationProperties("dlock")
public record DlockProperties(@Nullable DlockBackend backend, @DefaultValue("30s") Duration lease,
		@DefaultValue("5s") Duration waitTime, @Nullable Duration maxHold, @DefaultValue("false") boolean fair,
		@Nullable Duration commandTimeout, @DefaultValue("100ms") Duration maxPollInterval,
		@DefaultValue("10s") Duration shutdownTimeout, @Nullable String instance,
		@DefaultValue("true") boolean startupCheck, @DefaultValue("15s") Duration startupTimeout,
		@DefaultValue("sync") ReleaseMode release, @DefaultValue("throw") OnStoreFailure onStoreFailure,
		@DefaultValue("true") boolean mdc, @DefaultValue Aop aop, @DefaultValue HandOff handOff,
		@DefaultValue Events events, @DefaultValue Transaction transaction, @DefaultValue Failover failover,
		@DefaultValue Quorum quorum) {

	private static final Duration MAX_STARTUP_TIMEOUT = Duration.ofMinutes(60);

	/**
	 * The command timeout that is in effect.
	 * @return the configured one, or the default for the lease
	 */
	public Duration effectiveCommandTimeout() {
		return (this.commandTimeout != null) ? this.commandTimeout : LockSettings.commandTimeoutFor(this.lease);
	}

	/**
	 * The retry of the first use of the store.
	 * @return the retry, or {@code null} if the start does not depend on the store
	 */
	public @Nullable StartupRetry startupRetry() {
		return this.startupCheck ? new StartupRetry(this.startupTimeout) : null;
	}

	LockSettings settings(String defaultInstance) {
		if (this.startupTimeout.isNegative() || this.startupTimeout.compareTo(MAX_STARTUP_TIMEOUT) > 0) {
			throw new IllegalArgumentException("'startupTimeout' must be 0 to %d minutes but is %s"
				.formatted(MAX_STARTUP_TIMEOUT.toMinutes(), this.startupTimeout));
		}
		this.failover.terms();
		return LockSettings.builder()
			.lease(this.lease)
			.waitTime(this.waitTime)
			.commandTimeout(this.commandTimeout)
			.maxPollInterval(this.maxPollInterval)
			.shutdownTimeout(this.shutdownTimeout)
			.handOffMaxDuration(this.handOff.maxDuration())
			.releaseMode(this.release)
			.instance((this.instance != null) ? this.instance : defaultInstance)
			.maxHold(this.maxHold)
			.fair(this.fair)
			.longestLease(longestLease())
			.build();
	}

	private @Nullable Duration longestLease() {
		Duration limit = this.failover.longestLease();
		Duration ofQuorum = this.quorum.longestLease();
		boolean limited = this.backend == DlockBackend.QUORUM && !ofQuorum.isZero();
		return (limited && (limit == null || ofQuorum.compareTo(limit) < 0)) ? ofQuorum : limit;
	}

	/**
	 * Annotated methods.
	 *
	 * @param mode Interception of annotated methods: by the proxies of beans, or by an
	 * aspect that AspectJ must weave into them
	 * @param order Order of the lock among the advisors of a proxy, as in Order
	 * annotations: the lower, the further outside. By default inside all advisors that
	 * have an order
	 */
	public record Aop(@DefaultValue("proxy") AdviceMode mode,
			@DefaultValue("" + DistributedLockedBeanPostProcessor.ADVICE_ORDER) int order) {

	}

	/**
	 * Hand-off of locks between threads of this process.
	 *
	 * @param maxDuration Longest time for which the threads of a process pass a lock to
	 * each other without asking the store whether another process waits for it. Zero to
	 * ask each time
	 */
	public record HandOff(@DefaultValue("10ms") Duration maxDuration) {

	}

	/**
	 * Lock events.
	 *
	 * @param publish Whether to publish lock events as application events, for event
	 * listener methods. LockListener beans receive them in any case
	 */
	public record Events(@DefaultValue("false") boolean publish) {

	}

	/**
	 * Failover of the store.
	 *
	 * @param quarantine Whether the store, after a failover or a restart, grants no lock
	 * until all leases that it may have forgotten have expired. The same for all
	 * instances
	 * @param longestLease Longest lease of a lock of any instance, at most an hour; the
	 * same for all instances. Required for the quarantine; no limit by default. A method
	 * with a longer lease fails the start
	 * @param maxLag Time for which a former primary may go on to answer after a new one
	 * has taken over: min-replicas-max-lag of Redis plus two seconds. For PostgreSQL it
	 * has to be zero: the former primary is stopped before the promotion
	 */
	public record Failover(@DefaultValue("off") QuarantineMode quarantine, @Nullable Duration longestLease,
			@DefaultValue("12s") Duration maxLag) {

		/**
		 * The quarantine of the store.
		 * @return the quarantine, or {@code null} if it is off
		 */
		public @Nullable Quarantine terms() {
			boolean on = this.quarantine == QuarantineMode.LEASE;
			if (on && this.longestLease == null) {
				throw new IllegalArgumentException(
						"dlock.failover.quarantine is 'lease', which needs dlock.failover.longest-lease, the same for all instances");
			}
			Quarantine checked = new Quarantine((this.longestLease != null) ? this.longestLease : Duration.ofSeconds(1),
					this.maxLag);
			return on ? checked : null;
		}

	}

	/**
	 * Locks by the majority of several independent Redis servers.
	 *
	 * @param nodes URLs of the servers, such as redis://user:password@host:6379/0, or
	 * rediss for TLS: an odd number, at least three, the same for all instances, no
	 * replicas of each other. None by default
	 * @param longestLease Longest lease of a lock of any instance, and the time for which
	 * a server that restarted does not vote; at most an hour, the same for all instances.
	 * Zero if no server ever loses data
	 * @param wrongClocks Number of servers whose clocks may jump forward at the same
	 * time, the same for all instances. The more, the fewer servers may be down
	 * @param ssl TLS to the servers
	 */
	public record Quorum(@DefaultValue List<String> nodes, @DefaultValue("1m") Duration longestLease,
			@DefaultValue("0") int wrongClocks, @DefaultValue Ssl ssl) {

		/**
		 * The quarantine of a server.
		 * @return the quarantine, or {@code null} if no server loses data
		 */
		public @Nullable Quarantine quarantine() {
			return this.longestLease.isZero() ? null : DlockConfigurationErrors.naming("dlock.quorum.longest-lease",
					() -> new Quarantine(this.longestLease, Duration.ZERO));
		}

	}

	/**
	 * TLS to the servers of a quorum.
	 *
	 * @param bundle Name of the SSL bundle with the trusted certificates, and with the
	 * certificate of the application if the servers ask for one. By default the trust
	 * store of the JVM
	 */
	public record Ssl(@Nullable String bundle) {

	}

	/**
	 * Locks and transactions.
	 *
	 * @param inside Behavior of a locked method inside a transaction that already runs:
	 * keep the lock until the transaction has ended, fail, or ignore the transaction and
	 * release the lock when the method returns
	 * @param commitCheck Check before the commit of a transaction whose thread holds
	 * locks: the validity of the locks, their validity with a lock on their rows in the
	 * database of the transaction, or none
	 */
	public record Transaction(@DefaultValue("defer") InsideTransaction inside,
			@DefaultValue("validity") CommitCheck commitCheck) {

	}

}
