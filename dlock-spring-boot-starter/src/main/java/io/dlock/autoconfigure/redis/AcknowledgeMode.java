package io.dlock.autoconfigure.redis;

/**
 * The acknowledgement that a lock needs before it is granted, beyond that of the server.
 *
 * @since 0.1
 */
public enum AcknowledgeMode {

	/** None. */
	NONE,

	/** That of replicas, which have the lock in their memory. */
	REPLICAS,

	/** That of the disk of the server. */
	FSYNC

}
