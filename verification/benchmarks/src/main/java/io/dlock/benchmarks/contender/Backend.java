package io.dlock.benchmarks.contender;

import java.util.Locale;

/**
 * Where locks are kept.
 */
public enum Backend {

	REDIS, POSTGRES;

	public String label() {
		return name().toLowerCase(Locale.ROOT);
	}

	public static Backend of(String label) {
		return valueOf(label.toUpperCase(Locale.ROOT));
	}

}
