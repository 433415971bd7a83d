package io.dlock.benchmarks.load;

import java.util.concurrent.atomic.LongAdder;

/**
 * Exclusion among threads of several JVMs. Violations are those that this JVM noticed;
 * cycles are those of all.
 */
public final class SharedExclusion implements Exclusion {

	private static final int HOLDER = 0;

	private static final int CYCLES = 1;

	private final SharedWords words;

	private final LongAdder violations = new LongAdder();

	public SharedExclusion(SharedWords words) {
		this.words = words;
	}

	@Override
	public void enter(long id) {
		if (!this.words.compareAndSet(HOLDER, 0, id)) {
			this.violations.increment();
			this.words.set(HOLDER, id);
		}
		this.words.set(CYCLES, this.words.get(CYCLES) + 1);
	}

	@Override
	public void exit(long id) {
		if (!this.words.compareAndSet(HOLDER, id, 0)) {
			this.violations.increment();
			this.words.set(HOLDER, 0);
		}
	}

	@Override
	public long violations() {
		return this.violations.sum();
	}

	@Override
	public long cycles() {
		return this.words.get(CYCLES);
	}

}
