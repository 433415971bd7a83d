package io.dlock.benchmarks.process;

import java.time.Duration;

/**
 * How long locks are leased, by every contender.
 */
public final class Leases {

	/**
	 * Where renewal does not matter.
	 */
	public static final Duration DEFAULT = Duration.ofSeconds(30);

	private Leases() {
	}

}
