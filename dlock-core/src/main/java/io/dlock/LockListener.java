package io.dlock;

/**
 * Is told what happens to the locks of a registry: for logs, metrics and alarms. In a
 * Spring Boot application every bean of this type is told; without, see
 * {@link LockRegistry#addListener}.
 * <p>
 * A listener can do no harm to a lock but take time. It is called on the thread that
 * acquires or releases, when that thread has the lock or is rid of it, before it goes on;
 * for {@link LockEvent.Renewed}, {@link LockEvent.RenewalFailed} and
 * {@link LockEvent.Lost} on a thread of the library that only calls listeners. So it is
 * called by several threads at a time, should not block and must not acquire locks. What
 * it throws is logged, as a warning the first time and at debug level from then on, and
 * goes no further; but for errors of the virtual machine, with which a lock that was
 * being acquired is released again.
 *
 * @since 0.1
 * @see LockEvent
 */
@FunctionalInterface
public interface LockListener {

	/**
	 * Called after something has happened.
	 * @param event what
	 */
	void onEvent(LockEvent event);

}
