/**
 * The queues: the requests of a process that wait for one key, and the place of their
 * process in the queue of the store. Start reading at {@link LocalQueues} for threads,
 * and at {@link StoreQueueMembership} for processes. Knows leases, but not how they are
 * requested.
 */
@NullMarked
package io.dlock.engine.queue;

import org.jspecify.annotations.NullMarked;
