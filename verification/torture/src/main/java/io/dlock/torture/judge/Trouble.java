package io.dlock.torture.judge;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.dlock.torture.history.Event;
import io.dlock.torture.judge.Run.Limits;

/**
 * A line that a client printed about a lock that is in no history, of a key that no other
 * client uses.
 *
 * @param client the name of the client
 * @param from when the call began
 * @param to when it was over, or the lock known to be lost
 * @param waitLimit how long the call might wait
 * @param event how it ended
 * @param text more about it
 */
record Trouble(String client, long from, long to, long waitLimit, Event event, String text) {

	private static final String WORD = "TROUBLE ";

	private static final Pattern LEASE = Pattern.compile("\\blease=(\\d+)\\b");

	/**
	 * Read a line of the output of a client.
	 * @return the trouble, none if it is not about that
	 */
	static List<Trouble> of(String line) {
		if (!line.startsWith(WORD)) {
			return List.of();
		}
		String[] parts = line.substring(WORD.length()).split(" ", 6);
		return List.of(new Trouble(parts[0], Long.parseLong(parts[1]), Long.parseLong(parts[2]),
				Long.parseLong(parts[3]), Event.valueOf(parts[4]), parts[5]));
	}

	/**
	 * The lease of the lock: the milliseconds in the text, or the longest lease that
	 * there is.
	 */
	long lease(Limits limits) {
		Matcher lease = LEASE.matcher(this.text);
		return lease.find() ? TimeUnit.MILLISECONDS.toNanos(Long.parseLong(lease.group(1))) : 2 * limits.lease();
	}

	@Override
	public String toString() {
		return this.client + " " + this.text;
	}

}
