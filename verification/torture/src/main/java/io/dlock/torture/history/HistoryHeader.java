package io.dlock.torture.history;

import java.nio.ByteBuffer;

/**
 * The first bytes of a history: its writer and its limits.
 *
 * @param client the number of the client, or {@value #RESOURCE}
 * @param incarnation how often the client was started before
 * @param pid its process
 * @param leaseNanos the default lease
 * @param commandTimeoutNanos the longest wait of the contender for its store
 * @param pollNanos how often a waiting contender looks at a busy lock at least
 * @param fenced whether the contender has fencing tokens
 * @param notified whether the contender tells the holder that a lock is lost
 */
public record HistoryHeader(int client, int incarnation, long pid, long leaseNanos, long commandTimeoutNanos,
		long pollNanos, boolean fenced, boolean notified) {

	/** The client number of the resource. */
	public static final int RESOURCE = -1;

	static final int SIZE = HistoryRecord.SIZE;

	private static final long MAGIC = 0x646c_6f63_6b31_0a00L;

	/**
	 * The header of the resource's log.
	 * @return the header
	 */
	public static HistoryHeader ofResource() {
		return new HistoryHeader(RESOURCE, 0, ProcessHandle.current().pid(), 0, 0, 0, true, false);
	}

	void write(ByteBuffer buffer) {
		buffer.putLong(0, MAGIC);
		buffer.putInt(8, this.client);
		buffer.putInt(12, this.incarnation);
		buffer.putLong(16, this.pid);
		buffer.putLong(24, this.leaseNanos);
		buffer.putLong(32, this.commandTimeoutNanos);
		buffer.putLong(40, this.pollNanos);
		buffer.put(48, (byte) (this.fenced ? 1 : 0));
		buffer.put(49, (byte) (this.notified ? 1 : 0));
	}

	static HistoryHeader read(ByteBuffer buffer) {
		if (buffer.getLong(0) != MAGIC) {
			throw new IllegalArgumentException("Not a history");
		}
		return new HistoryHeader(buffer.getInt(8), buffer.getInt(12), buffer.getLong(16), buffer.getLong(24),
				buffer.getLong(32), buffer.getLong(40), buffer.get(48) != 0, buffer.get(49) != 0);
	}

}
