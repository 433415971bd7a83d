package io.dlock.torture.server;

import java.util.Arrays;
import java.util.Locale;

/**
 * The stores that clients can be tortured on.
 */
public enum StoreType {

	REDIS, REDIS_SENTINEL, REDIS_CLUSTER, REDIS_QUORUM, POSTGRES, MARIADB;

	public String label() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * Find a type by its label.
	 * @param label the label
	 * @return the type
	 */
	public static StoreType of(String label) {
		return Arrays.stream(values())
			.filter((type) -> type.label().equals(label))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("No store is called " + label));
	}

	/**
	 * The connections of an idle process: those of the application, one of the locks, and
	 * one for messages where the database sends them.
	 * @return the number, or zero if the processes say how many there are
	 */
	public int idleConnections() {
		return switch (this) {
			case POSTGRES -> 6;
			case MARIADB -> 5;
			default -> 0;
		};
	}

	/**
	 * Whether a process can be told that it is its turn.
	 */
	public boolean hasMessages() {
		return this != MARIADB && this != REDIS_QUORUM;
	}

	public boolean isRedis() {
		return this != POSTGRES && this != MARIADB;
	}

}
