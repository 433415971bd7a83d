package io.dlock.torture.fault;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What happens to the machine.
 */
final class HostFaults {

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

	private static void hogs(Infliction fault) throws InterruptedException, IOException {
		List<Process> hogs = new ArrayList<>();
		try {
			for (int i = 0; i < fault.amount(); i++) {
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
