package io.dlock.torture.resource;

import java.nio.ByteBuffer;

/**
 * An answer of the resource.
 *
 * @param accepted whether it was done; otherwise the token was stale
 * @param value the value of the counter
 * @param highest the highest token that the counter has seen
 */
public record Reply(boolean accepted, long value, long highest) {

	static final int SIZE = 24;

	void write(ByteBuffer buffer) {
		buffer.putLong(this.accepted ? 1 : 0);
		buffer.putLong(this.value);
		buffer.putLong(this.highest);
	}

	static Reply read(ByteBuffer buffer) {
		return new Reply(buffer.getLong() != 0, buffer.getLong(), buffer.getLong());
	}

}
