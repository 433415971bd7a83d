package io.dlock.benchmarks.load;

import java.util.concurrent.atomic.LongAdder;

import io.dlock.benchmarks.contender.LockKind;

/**
 * Counts the places of a key that are taken at a time: a writer takes all of them, a
 * reader or a permit one. Cycles are counted with synchronization, because several
 * holders are inside at once.
 */
public final class Places implements Exclusion {

	private static final int TAKEN = 0;

	private static final int CYCLES = 1;

	private final SharedWords words;

	private final LockKind kind;

	private final LongAdder violations = new LongAdder();

	/**
	 * Count the holders of one kind.
	 * @param words the words, shared with the other kinds and processes
	 * @param kind the kind
	 */
	public Places(SharedWords words, LockKind kind) {
		this.words = words;
		this.kind = kind;
	}

	@Override
	public void enter(long id) {
		if (this.words.add(TAKEN, this.kind.taken()) > this.kind.places()) {
			this.violations.increment();
		}
		this.words.add(CYCLES, 1);
	}

	@Override
	public void exit(long id) {
		this.words.add(TAKEN, -this.kind.taken());
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
