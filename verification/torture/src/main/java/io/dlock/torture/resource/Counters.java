package io.dlock.torture.resource;

import java.util.HashMap;
import java.util.Map;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;

/**
 * The counters that the locks protect, two of each key: one that rejects a token lower
 * than the highest it has seen, and one that believes everybody.
 */
final class Counters {

	private final Map<Integer, Counter> fenced = new HashMap<>();

	private final Map<Integer, Counter> unfenced = new HashMap<>();

	/**
	 * Do what is asked.
	 * @param request the request
	 * @return the answer
	 */
	Reply apply(Request request) {
		return switch (request.operation()) {
			case FENCED_READ, FENCED_WRITE -> of(this.fenced, request).fenced(request);
			case UNFENCED_READ, UNFENCED_WRITE -> of(this.unfenced, request).apply(request);
		};
	}

	private static Counter of(Map<Integer, Counter> counters, Request request) {
		return counters.computeIfAbsent(request.origin().key(), (key) -> new Counter());
	}

	/**
	 * Describe the write for the log. {@code other} is the highest token seen before.
	 * @param nanos when
	 * @param request the request
	 * @param reply its answer
	 * @param before the highest token before it
	 * @return the record
	 */
	static HistoryRecord entry(long nanos, Request request, Reply reply, long before) {
		Event event = switch (request.operation()) {
			case FENCED_READ -> reply.accepted() ? Event.FENCED_READ : Event.FENCED_REJECTED;
			case FENCED_WRITE -> reply.accepted() ? Event.FENCED_WRITE : Event.FENCED_REJECTED;
			case UNFENCED_READ -> Event.UNFENCED_READ;
			case UNFENCED_WRITE -> Event.UNFENCED_WRITE;
		};
		return HistoryRecord.of(nanos, request.origin(), event)
			.withToken(request.token())
			.withValue(reply.value())
			.withOther(before);
	}

	/**
	 * The highest token that the fenced counter of a key has seen.
	 * @param key the key
	 * @return the token, 0 at the beginning
	 */
	long highest(int key) {
		Counter counter = this.fenced.get(key);
		return (counter != null) ? counter.highest : 0;
	}

	private static final class Counter {

		private long value;

		private long highest;

		Reply fenced(Request request) {
			if (request.token() < this.highest) {
				return new Reply(false, this.value, this.highest);
			}
			this.highest = request.token();
			return apply(request);
		}

		Reply apply(Request request) {
			switch (request.operation()) {
				case FENCED_WRITE, UNFENCED_WRITE -> this.value = request.value();
				case FENCED_READ, UNFENCED_READ -> {
				}
			}
			return new Reply(true, this.value, this.highest);
		}

	}

}
