package io.dlock.torture.judge;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line of the timeline.
 *
 * @param nanos its time
 * @param kind its kind
 * @param fault the fault
 * @param target the resource that suffers from it
 * @param text details
 */
record TimelineEvent(long nanos, Kind kind, String fault, String target, String text) {

	/** Faults that let a store lose what it has acknowledged, or step its clock. */
	private static final Set<String> LOSSY = Set.of("F14", "F15", "F16", "F17", "F18", "F19");

	private static final Pattern NUMBER = Pattern.compile("#\\d+");

	private static final Pattern AMOUNT = Pattern.compile("amount=(-?\\d+)");

	private static final Pattern OF_ONE = Pattern.compile("(client|clock|link)-\\d+");

	static TimelineEvent parse(String line) {
		String[] parts = line.split(" ", 5);
		return new TimelineEvent(Long.parseLong(parts[0]), Kind.of(part(parts, 1)), part(parts, 2), part(parts, 3),
				part(parts, 4));
	}

	private static String part(String[] parts, int index) {
		return (index < parts.length) ? parts[index] : "";
	}

	/**
	 * The begin and the end of a fault have the same name.
	 */
	String name() {
		Matcher number = NUMBER.matcher(this.text);
		return this.fault + " " + this.target + (number.find() ? number.group() : "");
	}

	long amount() {
		Matcher amount = AMOUNT.matcher(this.text);
		return amount.find() ? Long.parseLong(amount.group(1)) : 0;
	}

	/**
	 * The tier says so, which older timelines do not have.
	 */
	boolean isLossy() {
		return this.text.contains("tier=") ? this.text.contains("tier=L") : LOSSY.contains(this.fault);
	}

	boolean isOf(String prefix, int client) {
		return this.target.equals(prefix + client);
	}

	boolean isOfOne() {
		return OF_ONE.matcher(this.target).matches();
	}

	/**
	 * Whether a client suffers from it: a fault that is not limited to one client
	 * concerns all.
	 */
	boolean concerns(int client) {
		return !isOfOne() || isOf("client-", client) || isOf("clock-", client) || isOf("link-", client);
	}

	/**
	 * The kind of a line.
	 */
	enum Kind {

		START, KILL, RESTORED, END, HEAL, QUIESCE, DONE, OTHER;

		static Kind of(String name) {
			for (Kind kind : values()) {
				if (kind.name().equals(name)) {
					return kind;
				}
			}
			return OTHER;
		}

	}

}
