package io.dlock.torture.client;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Keeps the heap full but for a margin, and makes garbage all the time, so that the
 * collector stops the process again and again (F29). The amount is the margin in MB: what
 * the others need must always be there, because a library that is out of memory promises
 * nothing.
 */
final class HeapPressure implements Affliction {

	private static final int MB = 1 << 20;

	/** Small, so that there are many to be marked. */
	private static final int PAYLOAD = 200;

	/** With its header and the reference. */
	private static final int BLOCK = PAYLOAD + 20;

	@Override
	public Effect suffer(Dose dose) {
		long collections = sum(GarbageCollectorMXBean::getCollectionCount);
		long millis = sum(GarbageCollectorMXBean::getCollectionTime);
		long retained = press(dose);
		return new Effect(0,
				"retained=%dMB collections=%d collecting=%dms".formatted(retained / MB,
						sum(GarbageCollectorMXBean::getCollectionCount) - collections,
						sum(GarbageCollectorMXBean::getCollectionTime) - millis));
	}

	private static long press(Dose dose) {
		System.gc();
		Runtime heap = Runtime.getRuntime();
		long room = heap.maxMemory() - (heap.totalMemory() - heap.freeMemory()) - (long) dose.amount() * MB;
		int blocks = (int) Math.max(0, room / BLOCK);
		try {
			List<byte[]> retained = new ArrayList<>(blocks);
			while (retained.size() < blocks && dose.goesOn()) {
				retained.add(new byte[PAYLOAD]);
			}
			while (dose.goesOn()) {
				waste();
				dose.pause();
			}
			return (long) retained.size() * BLOCK;
		}
		catch (OutOfMemoryError ex) {
			// everything is free again
			return 0;
		}
	}

	/**
	 * Some megabytes of garbage that the compiler cannot leave out.
	 */
	private static void waste() {
		int sum = 0;
		for (int i = 0; i < 64; i++) {
			sum += new byte[MB / 16].length;
		}
		if (sum == 0) {
			throw new IllegalStateException();
		}
	}

	private static long sum(ToLongFunction<GarbageCollectorMXBean> figure) {
		return ManagementFactory.getGarbageCollectorMXBeans().stream().mapToLong(figure).sum();
	}

}
