package io.dlock.torture.resource;

import java.nio.ByteBuffer;

import io.dlock.torture.history.HistoryRecord.Origin;

/**
 * A request to the resource.
 *
 * @param operation what
 * @param origin who asks
 * @param token the fencing token, 0 if there is none
 * @param value what to write
 */
record Request(Operation operation, Origin origin, long token, long value) {

	static final int SIZE = 40;

	@SuppressWarnings("EnumOrdinal") // both ends are built together
	void write(ByteBuffer buffer) {
		buffer.putInt(this.operation.ordinal());
		buffer.putInt(this.origin.key());
		buffer.putInt(this.origin.client());
		buffer.putInt(this.origin.thread());
		buffer.putLong(this.origin.attempt());
		buffer.putLong(this.token);
		buffer.putLong(this.value);
	}

	static Request read(ByteBuffer buffer) {
		Operation operation = Operation.of(buffer.getInt());
		int key = buffer.getInt();
		int client = buffer.getInt();
		int thread = buffer.getInt();
		return new Request(operation, new Origin(client, thread, buffer.getLong(), key), buffer.getLong(),
				buffer.getLong());
	}

	/**
	 * The operations. A fenced read carries the token as well: a counter that only
	 * checked the write would lose the update of a holder that was read over.
	 */
	enum Operation {

		FENCED_READ, FENCED_WRITE, UNFENCED_READ, UNFENCED_WRITE;

		private static final Operation[] VALUES = values();

		static Operation of(int code) {
			return VALUES[code];
		}

	}

}
