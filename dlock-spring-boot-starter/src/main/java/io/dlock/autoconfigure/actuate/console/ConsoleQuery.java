package io.dlock.autoconfigure.actuate.console;

import java.util.Comparator;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import io.dlock.autoconfigure.actuate.console.ConsoleDescriptor.Lock;
import io.dlock.store.StorageKey;

/**
 * The part of the locks that a viewer wants to see. The filter is compared with texts as
 * this viewer may see them: a guess of a hidden key finds nothing.
 *
 * @param text the filter as the viewer wrote it, a part of a key, holder, thread, name,
 * reason or token; empty for all
 * @param filter the filter in lower case
 * @param storedFilter the filter as a part of a stored key
 * @param only {@code all}, {@code here} or {@code waiting}
 * @param sort {@code age}, {@code key} or {@code waiting}
 * @param page the number of the page, from 1
 */
record ConsoleQuery(String text, String filter, String storedFilter, String only, String sort, int page) {

	static ConsoleQuery of(@Nullable String filter, @Nullable String only, @Nullable String sort,
			@Nullable String page) {
		String text = (filter != null) ? filter.strip() : "";
		return new ConsoleQuery(text, lower(text), text.isEmpty() ? "" : lower(StorageKey.ofShown(text)),
				(only != null) ? only : "all", (sort != null) ? sort : "age", number(page));
	}

	private static int number(@Nullable String page) {
		try {
			return (page != null) ? Math.max(1, Integer.parseInt(page)) : 1;
		}
		catch (NumberFormatException ex) {
			return 1;
		}
	}

	private static String lower(String text) {
		return text.toLowerCase(Locale.ROOT);
	}

	boolean matches(Lock lock) {
		boolean wanted = switch (this.only) {
			case "here" -> lock.waiterCount() > 0 || lock.holders().stream().anyMatch(ConsoleDescriptor.Holder::here);
			case "waiting" -> lock.waiterCount() > 0;
			default -> true;
		};
		return wanted && (this.filter.isEmpty() || matchesKey(lock.key())
				|| lock.holders()
					.stream()
					.anyMatch((holder) -> contains(holder.holder(), holder.name(), holder.reason(), holder.token()))
				|| lock.waiters()
					.stream()
					.anyMatch((waiter) -> contains(waiter.thread(), waiter.name(), waiter.reason())));
	}

	boolean matches(ConsoleDescriptor.Event event) {
		return this.filter.isEmpty() || matchesKey(event.key())
				|| contains(event.name(), event.reason(), event.token(), event.text());
	}

	private boolean matchesKey(String key) {
		String shown = lower(key);
		return shown.contains(this.filter) || shown.contains(this.storedFilter);
	}

	private boolean contains(@Nullable String... texts) {
		for (String text : texts) {
			if (text != null && lower(text).contains(this.filter)) {
				return true;
			}
		}
		return false;
	}

	Comparator<Lock> order() {
		Comparator<Lock> byKey = Comparator.comparing(Lock::key);
		Comparator<Lock> byAge = Comparator.comparingDouble(ConsoleQuery::age).reversed().thenComparing(byKey);
		return switch (this.sort) {
			case "key" -> byKey;
			case "waiting" -> Comparator.comparingInt(Lock::waiterCount).reversed().thenComparing(byAge);
			default -> byAge;
		};
	}

	/**
	 * The age of the oldest holder. A lock that is kept has none, and comes last.
	 */
	private static double age(Lock lock) {
		return lock.holders()
			.stream()
			.filter((holder) -> holder.state().equals(ConsoleLocks.HELD))
			.mapToDouble(ConsoleDescriptor.Holder::heldSeconds)
			.max()
			.orElse(-1);
	}

}
