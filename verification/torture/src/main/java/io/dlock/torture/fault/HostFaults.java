package io.dlock.torture.fault;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Faults of the machine.
 */
final class HostFaults {

	private static final Path LOADED = Path.of(System.getProperty("java.io.tmpdir"), "dlock-torture-host.lock");

	private static final Set<Process> HOGS = ConcurrentHashMap.newKeySet();

	static {
		Runtime.getRuntime().addShutdownHook(new Thread(() -> HOGS.forEach(Process::destroyForcibly)));
	}

	private HostFaults() {
	}

	static List<FaultType> all(Duration lease) {
		return List.of(FaultType.safe("F28", "cpu-hogs", Scope.HOST, HostFaults::hogs)
			.lasting(Range.times(lease, 1, 3))
			.amounting(Range.of(2, 4)));
	}

	/**
	 * If another campaign loads the machine just now, it is busy enough.
	 */
	private static void hogs(Infliction fault) throws InterruptedException, IOException {
		try (FileChannel file = FileChannel.open(LOADED, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
				FileLock loading = file.tryLock()) {
			load(fault, (loading != null) ? fault.amount() : 0);
		}
	}

	private static void load(Infliction fault, long amount) throws InterruptedException, IOException {
		List<Process> hogs = new ArrayList<>();
		try {
			for (int i = 0; i < amount; i++) {
				hogs.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
			}
			HOGS.addAll(hogs);
			fault.hold();
		}
		finally {
			hogs.forEach(Process::destroyForcibly);
			hogs.forEach(HOGS::remove);
		}
	}

}
