package io.dlock.benchmarks.load;

import java.util.concurrent.atomic.LongAdder;

/**
 * Exclusion among threads of one JVM. The fields are plain: only the lock orders access
 * to them.
 */
public final class LocalExclusion implements Exclusion {

	private final LongAdder violations = new LongAdder();

	private long inside;

	private long cycles;

	@Override
	public void enter(long id) {
		if (this.inside != 0) {
			this.violations.increment();
		}
		this.inside = id;
		this.cycles++;
	}

	@Override
	public void exit(long id) {
		if (this.inside != id) {
			this.violations.increment();
		}
		this.inside = 0;
	}

	@Override
	public long violations() {
		return this.violations.sum();
	}

	@Override
	public long cycles() {
		return this.cycles;
	}

}
