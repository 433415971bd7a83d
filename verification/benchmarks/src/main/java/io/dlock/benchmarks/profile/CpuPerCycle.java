package io.dlock.benchmarks.profile;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

import com.sun.management.OperatingSystemMXBean;

import io.dlock.benchmarks.Servers;
import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderLock;
import io.dlock.benchmarks.contender.ContenderType;

/**
 * How much CPU time a cycle costs the server and the client, and how busy that keeps the
 * machine. Linux only. Arguments: redis or postgres, threads, contenders.
 */
public final class CpuPerCycle {

	private static final Duration ROUND = Duration.ofSeconds(5);

	private static final int ROUNDS = 4;

	/** {@code /proc} counts in hundredths of a second. */
	private static final double TICKS = 100;

	private CpuPerCycle() {
	}

	public static void main(String[] arguments) throws Exception {
		Backend backend = Backend.of(arguments[0]);
		int threads = Integer.parseInt(arguments[1]);
		Map<ContenderType, Contender> contenders = new EnumMap<>(ContenderType.class);
		try (Servers servers = Servers.start(EnumSet.of(backend))) {
			for (String label : List.of(arguments).subList(2, arguments.length)) {
				ContenderType type = ContenderType.of(label);
				contenders.put(type, type.connect(servers.address(backend), Duration.ofSeconds(30)));
			}
			for (int round = 0; round < ROUNDS; round++) {
				for (Map.Entry<ContenderType, Contender> contender : contenders.entrySet()) {
					String line = measure(backend, contender.getKey(), contender.getValue(), threads);
					System.out.println(((round == 0) ? "warm-up  " : "") + line);
				}
			}
			contenders.values().forEach(Contender::close);
		}
	}

	private static String measure(Backend backend, ContenderType type, Contender contender, int count)
			throws InterruptedException, IOException {
		LongAdder cycles = new LongAdder();
		double server = serverSeconds(backend);
		double client = clientSeconds();
		long start = System.nanoTime();
		List<Thread> threads = IntStream.range(0, count)
			.mapToObj((i) -> new Thread(() -> cycle(contender.open("profile-" + i), start, cycles)))
			.toList();
		threads.forEach(Thread::start);
		for (Thread thread : threads) {
			thread.join();
		}
		double seconds = (System.nanoTime() - start) / 1e9;
		server = serverSeconds(backend) - server;
		client = clientSeconds() - client;
		return "%-18s %,8.0f cycles/s  CPU per cycle: server %.0f µs, client %.0f µs  cores busy %.2f".formatted(
				type.label(), cycles.sum() / seconds, server / cycles.sum() * 1e6, client / cycles.sum() * 1e6,
				(server + client) / seconds);
	}

	private static void cycle(ContenderLock lock, long start, LongAdder cycles) {
		try {
			while (System.nanoTime() - start < ROUND.toNanos()) {
				lock.acquire();
				lock.release();
				cycles.increment();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static double clientSeconds() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
	}

	private static double serverSeconds(Backend backend) throws IOException {
		String name = (backend == Backend.REDIS) ? "redis-server" : "postgres";
		double sum = 0;
		try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
			for (Path process : processes) {
				sum += seconds(process, name);
			}
		}
		return sum;
	}

	private static double seconds(Path process, String name) {
		try {
			String stat = Files.readString(process.resolve("stat"));
			int end = stat.lastIndexOf(')');
			if (!stat.substring(0, end).contains("(" + name)) {
				return 0;
			}
			List<String> fields = List.of(stat.substring(end + 2).split(" ", -1));
			return (Long.parseLong(fields.get(11)) + Long.parseLong(fields.get(12))) / TICKS;
		}
		catch (IOException ex) {
			// it has ended
			return 0;
		}
	}

}
