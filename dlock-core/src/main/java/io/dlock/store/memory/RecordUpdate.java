package io.dlock.store.memory;

import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockRecord;
import io.dlock.store.LockRecord.Change;
import io.dlock.store.MailboxAddress;

/**
 * The change of one record of the map, with its answer and the processes that the key is
 * reserved for since then.
 *
 * @param <T> the type of the answer
 */
final class RecordUpdate<T> implements BiFunction<String, @Nullable LockRecord, @Nullable LockRecord> {

	private final Function<LockRecord, Change<T>> next;

	private @Nullable Change<T> change;

	private List<MailboxAddress> reserved = List.of();

	RecordUpdate(Function<LockRecord, Change<T>> next) {
		this.next = next;
	}

	@Override
	public @Nullable LockRecord apply(String key, @Nullable LockRecord stored) {
		LockRecord before = (stored != null) ? stored : LockRecord.NONE;
		Change<T> made = this.next.apply(before);
		this.change = made;
		this.reserved = made.record().reservedSince(before);
		return made.record().owner().isEmpty() ? null : made.record();
	}

	List<MailboxAddress> reserved() {
		return this.reserved;
	}

	T answer() {
		return Objects.requireNonNull(this.change).answer();
	}

}
