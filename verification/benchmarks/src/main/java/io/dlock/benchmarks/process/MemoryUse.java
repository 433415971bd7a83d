package io.dlock.benchmarks.process;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;

import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The memory in use after a collection.
 *
 * @param heap bytes of heap
 * @param dlockObjects objects of our classes, those of the benchmarks not counted
 */
record MemoryUse(long heap, long dlockObjects) {

	static MemoryUse now() {
		MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
		memory.gc();
		long objects = countDlockObjects();
		memory.gc();
		return new MemoryUse(memory.getHeapMemoryUsage().getUsed(), objects);
	}

	private static long countDlockObjects() {
		try {
			String histogram = (String) ManagementFactory.getPlatformMBeanServer()
				.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
						new Object[] { new String[0] }, new String[] { String[].class.getName() });
			return histogram.lines().mapToLong(MemoryUse::ofDlock).sum();
		}
		catch (JMException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * A line is "rank: instances bytes class".
	 */
	private static long ofDlock(String line) {
		String[] columns = line.trim().split("\\s+", -1);
		boolean ours = columns.length >= 4 && columns[3].startsWith("io.dlock.")
				&& !columns[3].startsWith("io.dlock.benchmarks.");
		return ours ? Long.parseLong(columns[1]) : 0;
	}

}
