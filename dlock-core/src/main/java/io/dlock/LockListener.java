package io.dlock;

/**
 * Receives the events of the locks of a registry, for logs, metrics and alarms. In a
 * Spring Boot application every bean of this type receives them; otherwise see
 * {@link LockRegistry#addListener}.
 * <p>
 * A listener is called on the thread that acquires or releases, after the acquisition or
 * release and before that thread goes on; for {@link LockEvent.Renewed},
 * {@link LockEvent.RenewalFailed} and {@link LockEvent.Lost} on a thread of the library
 * that only calls listeners. Several threads may call it at the same time. It should not
 * block and must not acquire locks.
 * <p>
 * An exception of a listener is logged, as a warning the first time and at debug level
 * from then on, and does not affect the lock. An error of the virtual machine is thrown:
 * a lock that was being acquired is released again.
 *
 * @since 0.1
 * @see LockEvent
 */
@FunctionalInterface
public interface LockListener {

	/**
	 * Receive an event.
	 * @param event the event
	 */
	void onEvent(LockEvent event);

}
