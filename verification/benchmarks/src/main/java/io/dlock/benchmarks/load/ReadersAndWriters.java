package io.dlock.benchmarks.load;

import java.util.concurrent.ThreadLocalRandom;

import io.dlock.benchmarks.contender.ContenderLock;

/**
 * A thread that reads nine times of ten and writes once, and the resource that it uses.
 */
public final class ReadersAndWriters implements ContenderLock, Exclusion {

	private static final int ONE_WRITE_IN = 10;

	private final ContenderLock read;

	private final ContenderLock write;

	private final Exclusion reading;

	private final Exclusion writing;

	private boolean writes;

	/**
	 * Create the lock of one thread.
	 * @param read the shared lock
	 * @param write the exclusive lock
	 * @param reading the use of the resource by readers, shared by the threads
	 * @param writing the use of the resource by writers, shared by the threads
	 */
	public ReadersAndWriters(ContenderLock read, ContenderLock write, Exclusion reading, Exclusion writing) {
		this.read = read;
		this.write = write;
		this.reading = reading;
		this.writing = writing;
	}

	@Override
	public void acquire() throws InterruptedException {
		this.writes = ThreadLocalRandom.current().nextInt(ONE_WRITE_IN) == 0;
		lock().acquire();
	}

	@Override
	public void release() {
		lock().release();
	}

	private ContenderLock lock() {
		return this.writes ? this.write : this.read;
	}

	@Override
	public void enter(long id) {
		resource().enter(id);
	}

	@Override
	public void exit(long id) {
		resource().exit(id);
	}

	private Exclusion resource() {
		return this.writes ? this.writing : this.reading;
	}

	@Override
	public long violations() {
		return this.reading.violations() + this.writing.violations();
	}

	@Override
	public long cycles() {
		return this.reading.cycles();
	}

}
