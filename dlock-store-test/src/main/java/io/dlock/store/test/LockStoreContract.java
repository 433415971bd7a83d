package io.dlock.store.test;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import io.dlock.store.LockStore;
import io.dlock.store.WaitingQueue;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of every {@link LockStore}. A store is finished when a subclass of this
 * class passes on the real server:
 *
 * <pre class="code">
 * class MyLockStoreTests extends LockStoreContract {
 *
 *     &#64;Override
 *     protected LockStore createStore() {
 *         return new MyLockStore(…);
 *     }
 *
 *     &#64;Override
 *     protected LockStore createStoreOfAnotherProcess() {
 *         return new MyLockStore(…);
 *     }
 *
 *     &#64;Override
 *     protected void loseEverything() { … }
 *
 *     &#64;Override
 *     protected void setLastToken(long token) { … }
 *
 * }
 * </pre>
 * <p>
 * Each nested class is a part of the contract. Each test has a store and a key of its
 * own, so that the tests of one class can share a server. No test waits for the timeout
 * of the store, which should be generous.
 * <p>
 * A store without queues, messages or inspection says so with {@link #features()}, and
 * the tests that need them are skipped.
 *
 * @since 0.1
 */
@ExtendWith(FailureOrigin.class)
public abstract class LockStoreContract {

	private LockStore store;

	private String key;

	/**
	 * Create the store under test.
	 * @return a store that nothing else uses; the suite closes it
	 * @throws Exception if that fails
	 */
	protected abstract LockStore createStore() throws Exception;

	/**
	 * Create a store on the data of the store under test, as another process has it.
	 * @return a store that shares nothing with {@link #store()} but the server; the suite
	 * closes it. {@code null} if the locks of a store belong to its process
	 * @throws Exception if that fails
	 */
	protected abstract @Nullable LockStore createStoreOfAnotherProcess() throws Exception;

	/**
	 * Remove everything the store has stored, behind its back.
	 * @throws Exception if that fails
	 */
	protected abstract void loseEverything() throws Exception;

	/**
	 * Replace the last token of {@link #key()}, as if it had been made when the clock of
	 * the server was ahead.
	 * @param token the token, in microseconds since 1970
	 * @throws Exception if that fails
	 */
	protected abstract void setLastToken(long token) throws Exception;

	/**
	 * Replace the queue of {@link #key()} behind the back of the store. Override this if
	 * the store has places for a full {@link WaitingQueue}, and each request that joins
	 * it takes long.
	 * @param queue the queue
	 * @return whether it is replaced, by default not
	 * @throws Exception if that fails
	 */
	protected boolean replaceQueue(WaitingQueue queue) throws Exception {
		return false;
	}

	/**
	 * The optional features of the store.
	 * @return the features, by default all
	 */
	protected Set<Feature> features() {
		return EnumSet.allOf(Feature.class);
	}

	/**
	 * A lease that tests wait for. It is long enough to be granted on a busy machine.
	 * @return the lease, by default 300 milliseconds
	 */
	protected Duration shortLease() {
		return Duration.ofMillis(300);
	}

	/**
	 * The store under test.
	 * @return the store of the running test
	 */
	protected final LockStore store() {
		return this.store;
	}

	/**
	 * The key that the running test locks.
	 * @return a key that no other test has
	 */
	protected final String key() {
		return this.key;
	}

	@BeforeEach
	void createStoreAndKey() throws Exception {
		this.store = createStore();
		changeKey();
	}

	final void changeKey() {
		this.key = "contract/" + UUID.randomUUID();
	}

	@AfterEach
	void closeStore() {
		this.store.close();
	}

	@Test
	void verifyAcceptsAWorkingStore() {
		this.store.verify();
		this.store.verify();
		assertThat(this.store.describe()).isNotBlank().doesNotContain("password");
	}

	/**
	 * A feature of a store that the interface leaves to it.
	 */
	public enum Feature {

		/**
		 * A refused process may join a queue. A release reserves the lock for the first
		 * process of it.
		 */
		QUEUE,

		/**
		 * The first process of the queue is told of its reservation: requires
		 * {@link #QUEUE} and {@link LockStore#openMailbox}.
		 */
		MAILBOX,

		/**
		 * A lock can be kept after its release: {@link LockStore#keep}.
		 */
		KEEP,

		/**
		 * Operators can list locks and release them: {@link LockStore#inspection}.
		 */
		INSPECTION

	}

	/** The features of the store are those that the test declares. */
	@Nested
	class Features extends FeatureContract {

		Features() {
			super(LockStoreContract.this);
		}

	}

	/** {@link LockStore#acquire} and {@link LockStore#find}. */
	@Nested
	class Acquire extends AcquireContract {

		Acquire() {
			super(LockStoreContract.this);
		}

	}

	/** Tokens rise from owner to owner. */
	@Nested
	class Tokens extends TokenContract {

		Tokens() {
			super(LockStoreContract.this);
		}

	}

	/** {@link LockStore#renew} of one lease. */
	@Nested
	class Renew extends RenewContract {

		Renew() {
			super(LockStoreContract.this);
		}

	}

	/** {@link LockStore#renew} of many leases. */
	@Nested
	class RenewBatch extends RenewBatchContract {

		RenewBatch() {
			super(LockStoreContract.this);
		}

	}

	/** {@link LockStore#acquireAll} and {@link LockStore#releaseAll}. */
	@Nested
	class Batch extends BatchContract {

		Batch() {
			super(LockStoreContract.this);
		}

	}

	/** {@link LockStore#release}, and an acquire that releases another lock. */
	@Nested
	class Release extends ReleaseContract {

		Release() {
			super(LockStoreContract.this);
		}

	}

	/** {@link LockStore#sweep}. */
	@Nested
	class Sweep extends SweepContract {

		Sweep() {
			super(LockStoreContract.this);
		}

	}

	/** Keys of any characters and length. */
	@Nested
	class Keys extends KeyContract {

		Keys() {
			super(LockStoreContract.this);
		}

	}

	/** Exclusion when several threads ask at the same time. */
	@Nested
	class Contention extends ContentionContract {

		Contention() {
			super(LockStoreContract.this);
		}

	}

	/** The stores of two processes. */
	@Nested
	class Processes extends ProcessesContract {

		Processes() {
			super(LockStoreContract.this);
		}

	}

	/** {@link Feature#QUEUE}. */
	@Nested
	class Queue extends QueueContract {

		Queue() {
			super(LockStoreContract.this);
		}

	}

	/** {@link Feature#MAILBOX}. */
	@Nested
	class Mailboxes extends MailboxContract {

		Mailboxes() {
			super(LockStoreContract.this);
		}

	}

	/** {@link Feature#KEEP}. */
	@Nested
	class Keep extends KeepContract {

		Keep() {
			super(LockStoreContract.this);
		}

	}

	/** {@link Feature#INSPECTION}. */
	@Nested
	class Inspect extends InspectContract {

		Inspect() {
			super(LockStoreContract.this);
		}

	}

	/** Members that hold a key together, if {@link LockStore#supportsMembers()}. */
	@Nested
	class Members extends MemberContract {

		Members() {
			super(LockStoreContract.this);
		}

	}

	/** The number of members, if {@link LockStore#supportsMembers()}. */
	@Nested
	class MemberLimits extends MemberLimitContract {

		MemberLimits() {
			super(LockStoreContract.this);
		}

	}

	/** The queue of members, if {@link LockStore#supportsMembers()}. */
	@Nested
	class MemberQueue extends MemberQueueContract {

		MemberQueue() {
			super(LockStoreContract.this);
		}

	}

}
