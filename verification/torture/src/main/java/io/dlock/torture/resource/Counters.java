package io.dlock.torture.resource;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;

/**
 * The counters that the locks protect, two of each key: one that rejects a token lower
 * than the highest it has seen, and one that accepts every write.
 */
final class Counters {

	private final Map<Integer, Counter> fenced = new HashMap<>();

	private final Map<Integer, Counter> unfenced = new HashMap<>();

	/**
	 * Do what is asked.
	 * @return the answer
	 */
	Reply apply(Request request) {
		return switch (request.operation()) {
			case FENCED_READ, FENCED_WRITE -> of(this.fenced, request).fenced(request);
			case SHARED_READ -> of(this.fenced, request).readShared(request);
			case UNFENCED_READ, UNFENCED_WRITE -> of(this.unfenced, request).apply(request);
			case TRANSFER -> transfer(of(this.fenced, request), of(this.fenced, request.other().key()), request);
		};
	}

	private static Reply transfer(Counter from, Counter to, Request request) {
		if (request.other().token() < to.highest || request.token() < from.highest) {
			return new Reply(false, from.value, from.highest);
		}
		to.highest = request.other().token();
		to.value = request.other().value();
		from.highest = request.token();
		from.value = request.value();
		return new Reply(true, from.value, from.highest);
	}

	private static Counter of(Map<Integer, Counter> counters, Request request) {
		return of(counters, request.origin().key());
	}

	private static Counter of(Map<Integer, Counter> counters, int number) {
		return counters.computeIfAbsent(number, (key) -> new Counter());
	}

	/**
	 * Describe the write for the log. {@code other} is the highest token seen before, and
	 * for a transfer, which has two records, the money received. A transfer that was
	 * rejected has one record, of the account whose token was too low.
	 * @param nanos when
	 * @param reply its answer
	 * @param before the highest token before it
	 */
	static List<HistoryRecord> entries(long nanos, Request request, Reply reply, long before) {
		Event event = switch (request.operation()) {
			case FENCED_READ -> reply.accepted() ? Event.FENCED_READ : Event.FENCED_REJECTED;
			case FENCED_WRITE -> reply.accepted() ? Event.FENCED_WRITE : Event.FENCED_REJECTED;
			case SHARED_READ -> reply.accepted() ? Event.SHARED_READ : Event.FENCED_REJECTED;
			case UNFENCED_READ -> Event.UNFENCED_READ;
			case UNFENCED_WRITE -> Event.UNFENCED_WRITE;
			case TRANSFER -> reply.accepted() ? Event.TRANSFER : Event.FENCED_REJECTED;
		};
		HistoryRecord entry = HistoryRecord.of(nanos, request.origin(), event)
			.withToken(request.token())
			.withValue(reply.value())
			.withOther(before);
		if (request.operation() != Request.Operation.TRANSFER) {
			return List.of(entry);
		}
		Origin from = request.origin();
		Origin to = new Origin(from.client(), from.thread(), from.attempt(), request.other().key());
		if (!reply.accepted()) {
			return List.of((request.token() < before) ? entry
					: HistoryRecord.of(nanos, to, event).withToken(request.other().token()));
		}
		HistoryRecord received = HistoryRecord.of(nanos, to, event)
			.withToken(request.other().token())
			.withValue(request.other().value())
			.withOther(request.other().amount());
		return List.of(entry.withOther(-request.other().amount()), received);
	}

	/**
	 * The highest token that the fenced counter of a key has seen.
	 * @return the token, 0 at the beginning
	 */
	long highest(int key) {
		Counter counter = this.fenced.get(key);
		return (counter != null) ? counter.highest : 0;
	}

	private static final class Counter {

		private long value;

		private long highest;

		private long highestExclusive;

		Reply fenced(Request request) {
			if (request.token() < this.highest) {
				return new Reply(false, this.value, this.highest);
			}
			this.highest = request.token();
			this.highestExclusive = request.token();
			return apply(request);
		}

		Reply readShared(Request request) {
			if (request.token() < this.highestExclusive) {
				return new Reply(false, this.value, this.highestExclusive);
			}
			this.highest = Math.max(this.highest, request.token());
			return new Reply(true, this.value, this.highest);
		}

		Reply apply(Request request) {
			switch (request.operation()) {
				case FENCED_WRITE, UNFENCED_WRITE -> this.value = request.value();
				case FENCED_READ, UNFENCED_READ, SHARED_READ, TRANSFER -> {
				}
			}
			return new Reply(true, this.value, this.highest);
		}

	}

}
