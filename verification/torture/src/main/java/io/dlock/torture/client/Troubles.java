package io.dlock.torture.client;

import java.time.Duration;

import io.dlock.torture.history.Event;

/**
 * Tells the judge what went wrong with locks that are in no history, because their keys
 * are too many. Whether it had a reason the judge has to know: the client does not know
 * what else was inflicted. A line is
 * {@code TROUBLE <client> <from> <to> <wait limit> <event> <text>}; {@code lease=} and a
 * number of milliseconds in the text is the lease of a lock that was lost.
 *
 * @param client the name of the client
 * @param waitTime the longest wait of its calls
 */
record Troubles(String client, Duration waitTime) {

	/**
	 * Something went wrong, and is over now.
	 * @param event how it ended; {@link Event#GRANTED} if it only took long
	 * @param from when it began
	 * @param text more about it
	 */
	void tell(Event event, long from, String text) {
		System.out.println("TROUBLE %s %d %d %d %s %s".formatted(this.client, from, System.nanoTime(),
				this.waitTime.toNanos(), event, text.replaceAll("\\s+", " ")));
	}

}
