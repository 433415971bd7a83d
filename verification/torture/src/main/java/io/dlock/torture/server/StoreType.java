package io.dlock.torture.server;

import java.util.Arrays;
import java.util.Locale;

/**
 * The stores that clients can be tortured on.
 */
public enum StoreType {

	REDIS, REDIS_SENTINEL, REDIS_CLUSTER, POSTGRES, MARIADB;

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

	public boolean isRedis() {
		return this == REDIS || this == REDIS_SENTINEL || this == REDIS_CLUSTER;
	}

}
