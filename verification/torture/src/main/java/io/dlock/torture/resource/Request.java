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
 * @param other the other account of a transfer
 */
record Request(Operation operation, Origin origin, long token, long value, Entry other) {

	static final int SIZE = 68;

	private static final Entry NONE = new Entry(-1, 0, 0, 0);

	Request(Operation operation, Origin origin, long token, long value) {
		this(operation, origin, token, value, NONE);
	}

	@SuppressWarnings("EnumOrdinal") // both ends are built together
	void write(ByteBuffer buffer) {
		buffer.putInt(this.operation.ordinal());
		buffer.putInt(this.origin.key());
		buffer.putInt(this.origin.client());
		buffer.putInt(this.origin.thread());
		buffer.putLong(this.origin.attempt());
		buffer.putLong(this.token);
		buffer.putLong(this.value);
		buffer.putInt(this.other.key());
		buffer.putLong(this.other.token());
		buffer.putLong(this.other.value());
		buffer.putLong(this.other.amount());
	}

	static Request read(ByteBuffer buffer) {
		Operation operation = Operation.of(buffer.getInt());
		int key = buffer.getInt();
		int client = buffer.getInt();
		int thread = buffer.getInt();
		return new Request(operation, new Origin(client, thread, buffer.getLong(), key), buffer.getLong(),
				buffer.getLong(), new Entry(buffer.getInt(), buffer.getLong(), buffer.getLong(), buffer.getLong()));
	}

	/**
	 * The account that receives the money of a transfer.
	 *
	 * @param key the number of its key
	 * @param token the fencing token
	 * @param value the new balance
	 * @param amount the money that it receives
	 */
	record Entry(int key, long token, long value, long amount) {

	}

	/**
	 * The operations. A fenced read carries the token as well: a counter that only
	 * checked the write would lose the update of a holder that was read over. A transfer
	 * writes two counters, both or none. A shared read is in the way of lower writers and
	 * not of other readers.
	 */
	enum Operation {

		FENCED_READ, FENCED_WRITE, UNFENCED_READ, UNFENCED_WRITE, TRANSFER, SHARED_READ;

		private static final Operation[] VALUES = values();

		static Operation of(int code) {
			return VALUES[code];
		}

	}

}
